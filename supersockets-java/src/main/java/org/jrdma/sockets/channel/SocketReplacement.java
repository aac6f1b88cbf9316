package org.jrdma.sockets.channel;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.policy.Preferences;
import org.jrdma.sockets.policy.TransportList;
import org.jrdma.sockets.transport.KernelTransport;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges the socket of a channel for one of another transport or address family. A socket is
 * opened before its address is known. When the program connects or binds it, the policy may list
 * other transports for the address, or the transport may not support the address family. Used while
 * the locks of the channel are held.
 */
public final class SocketReplacement {

    private final Preferences preferences;
    private final boolean anyFamily;

    /** The options that the program has set. They are set again on the new socket. */
    private final Map<SocketOption<?>, Object> options = new HashMap<>();

    /**
     * Creates an object that exchanges the socket of one channel.
     *
     * @param preferences the transports for each address
     * @param anyFamily true if the program has not chosen an address family
     */
    public SocketReplacement(Preferences preferences, boolean anyFamily) {
        this.preferences = preferences;
        this.anyFamily = anyFamily;
    }

    /** Records an option that the program has set. */
    void remember(SocketOption<?> name, Object value) {
        options.put(name, value);
    }

    /**
     * If necessary, exchanges the socket of a client before the client is bound to {@code address},
     * when the peer is not known yet.
     *
     * @return the transport that is selected for the channel
     */
    SelectedTransport forLocal(
            SelectedTransport current, ChannelDescriptor endpoint, @Nullable SocketAddress address)
            throws IOException {
        return address instanceof InetSocketAddress local && needsIpv6(current, local)
                ? replace(endpoint, preferences.standard().open(InternetFamily.IPV6))
                : current;
    }

    /**
     * If necessary, exchanges the socket of a client before the client connects to {@code peer}.
     *
     * @param local the address to which the socket is bound; a new socket is bound to the same
     *     address. Null if the socket is not bound.
     * @return the transport that is selected for the channel
     */
    SelectedTransport forPeer(
            SelectedTransport current,
            ChannelDescriptor endpoint,
            @Nullable SocketAddress peer,
            @Nullable SocketAddress local)
            throws IOException {
        if (!(peer instanceof InetSocketAddress internet) || internet.isUnresolved()) {
            return current; // The caller rejects the address.
        }
        return select(current, endpoint, internet, local, preferences.forPeer(internet));
    }

    /**
     * If necessary, exchanges the socket of a listener before the listener is bound to {@code
     * address}.
     *
     * @return the transport that is selected for the channel
     */
    SelectedTransport forListener(
            SelectedTransport current, ChannelDescriptor endpoint, SocketAddress address)
            throws IOException {
        if (!(address instanceof InetSocketAddress internet) || internet.isUnresolved()) {
            return current;
        }
        return select(current, endpoint, internet, null, preferences.forListener(internet));
    }

    /**
     * Exchanges the socket of a listener for a new, unbound socket for {@code address}.
     *
     * @return the transport of the new socket
     */
    SelectedTransport reopenListener(
            SelectedTransport current, ChannelDescriptor endpoint, InetSocketAddress address)
            throws IOException {
        var transports = preferences.forListener(address);
        return replace(endpoint, transports.open((InternetFamily) current.addresses()));
    }

    private SelectedTransport select(
            SelectedTransport current,
            ChannelDescriptor endpoint,
            InetSocketAddress address,
            @Nullable SocketAddress local,
            TransportList transports)
            throws IOException {
        if (local == null && needsIpv6(current, address)) {
            return replace(endpoint, transports.open(InternetFamily.IPV6));
        }
        if (transports.equals(preferences.standard())) {
            return current;
        }
        if (current.transport() instanceof KernelTransport
                && transports.preferred().getFirst().equals(current.transport())) {
            return current.withUnused(List.of());
        }
        if (local == null && anyFamily) {
            return replace(endpoint, transports.open());
        }
        var newSelected = replace(endpoint, transports.open((InternetFamily) current.addresses()));
        if (local != null) {
            endpoint.call(() -> newSelected.bind(endpoint.descriptor(), local));
        }
        return newSelected;
    }

    private boolean needsIpv6(SelectedTransport current, InetSocketAddress address) {
        return anyFamily
                && current.addresses() == InternetFamily.IPV4
                && InternetFamily.standard().isIpv6()
                && address.getAddress() instanceof Inet6Address;
    }

    private SelectedTransport replace(ChannelDescriptor endpoint, TransportList.OpenedSocket opened)
            throws IOException {
        endpoint.replace(opened.descriptor());
        var selected = SelectedTransport.internet(opened);
        for (var option : options.entrySet()) {
            copyOption(selected, endpoint, option.getKey(), option.getValue());
        }
        return selected;
    }

    @SuppressWarnings("unchecked") // The value was type-checked when it was first set.
    private static <T> void copyOption(
            SelectedTransport selected,
            ChannelDescriptor endpoint,
            SocketOption<T> name,
            Object value)
            throws IOException {
        selected.options().set(endpoint, name, (T) value);
    }
}
