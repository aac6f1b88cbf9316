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
import org.jrdma.sockets.transport.FamilyTransport;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the socket of a channel when its address becomes known. The socket is replaced if the
 * policy lists other transports for the address, or if the address is IPv6 and the transport
 * supports only IPv4. Used under the locks of the channel.
 */
public final class SocketReplacement {

    private final Preferences preferences;
    private final boolean anyFamily;

    /** The options that the program has set, which a new socket needs as well. */
    private final Map<SocketOption<?>, Object> options = new HashMap<>();

    /**
     * Creates the replacement rules of a channel.
     *
     * @param preferences the transports for each address
     * @param anyFamily true if the program has not chosen an address family
     */
    public SocketReplacement(Preferences preferences, boolean anyFamily) {
        this.preferences = preferences;
        this.anyFamily = anyFamily;
    }

    void remember(SocketOption<?> name, Object value) {
        options.put(name, value);
    }

    /** Returns the socket to bind to {@code address}, before the peer is known. */
    StreamKind forLocal(StreamKind now, Endpoint endpoint, @Nullable SocketAddress address)
            throws IOException {
        return address instanceof InetSocketAddress local && needsIpv6(now, local)
                ? replace(endpoint, preferences.standard().open(InternetFamily.IPV6))
                : now;
    }

    /**
     * Returns the socket to connect to {@code peer}.
     *
     * @param local the address that the socket is bound to, which stays the same; null if it is not
     *     bound
     */
    StreamKind forPeer(
            StreamKind now,
            Endpoint endpoint,
            @Nullable SocketAddress peer,
            @Nullable SocketAddress local)
            throws IOException {
        if (!(peer instanceof InetSocketAddress internet) || internet.isUnresolved()) {
            return now; // the caller reports the invalid address
        }
        return select(now, endpoint, internet, local, preferences.forPeer(internet));
    }

    /** Returns the socket to listen with at {@code address}. */
    StreamKind forListener(StreamKind now, Endpoint endpoint, SocketAddress address)
            throws IOException {
        if (!(address instanceof InetSocketAddress internet) || internet.isUnresolved()) {
            return now;
        }
        return select(now, endpoint, internet, null, preferences.forListener(internet));
    }

    /** Returns another socket to listen with at {@code address}, not bound yet. */
    StreamKind reopenListener(StreamKind now, Endpoint endpoint, InetSocketAddress address)
            throws IOException {
        var transports = preferences.forListener(address);
        return replace(endpoint, transports.open((InternetFamily) now.addresses()));
    }

    private StreamKind select(
            StreamKind now,
            Endpoint endpoint,
            InetSocketAddress address,
            @Nullable SocketAddress local,
            TransportList transports)
            throws IOException {
        if (local == null && needsIpv6(now, address)) {
            return replace(endpoint, transports.open(InternetFamily.IPV6));
        }
        if (transports.equals(preferences.standard())) {
            return now;
        }
        if (now.transport() instanceof FamilyTransport
                && transports.preferred().getFirst().equals(now.transport())) {
            return now.withUnused(List.of());
        }
        if (local == null && anyFamily) {
            return replace(endpoint, transports.open());
        }
        var other = replace(endpoint, transports.open((InternetFamily) now.addresses()));
        if (local != null) {
            endpoint.call(() -> other.bind(endpoint.descriptor(), local));
        }
        return other;
    }

    private boolean needsIpv6(StreamKind now, InetSocketAddress address) {
        return anyFamily
                && now.addresses() == InternetFamily.IPV4
                && InternetFamily.standard().isIpv6()
                && address.getAddress() instanceof Inet6Address;
    }

    private StreamKind replace(Endpoint endpoint, TransportList.OpenedSocket opened)
            throws IOException {
        endpoint.replace(opened.descriptor());
        var kind = StreamKind.internet(opened);
        for (var option : options.entrySet()) {
            copyOption(kind, endpoint, option.getKey(), option.getValue());
        }
        return kind;
    }

    @SuppressWarnings("unchecked") // the value was type-checked when it was first set
    private static <T> void copyOption(
            StreamKind kind, Endpoint endpoint, SocketOption<T> name, Object value)
            throws IOException {
        kind.options().set(endpoint, name, (T) value);
    }
}
