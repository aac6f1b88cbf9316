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
 * What becomes of a socket that was made before its address was known: another takes its place, if
 * the policy has other transports for the address, or the address is of IPv6 and the transport for
 * IPv4 alone. Used under the locks of its channel.
 */
public final class AddressChoice {

    private final Preferences preferences;
    private final boolean anyFamily;

    /** What the program has set so far, which the other socket needs as well. */
    private final Map<SocketOption<?>, Object> options = new HashMap<>();

    /** For a channel that may become one of another family, or not. */
    public AddressChoice(Preferences preferences, boolean anyFamily) {
        this.preferences = preferences;
        this.anyFamily = anyFamily;
    }

    /** An option has been set. */
    void remember(SocketOption<?> name, Object value) {
        options.put(name, value);
    }

    /** The socket to be bound to {@code address}, before its peer is known. */
    StreamKind forOwn(StreamKind now, Endpoint endpoint, @Nullable SocketAddress address)
            throws IOException {
        return address instanceof InetSocketAddress own && needsIpv6(now, own)
                ? replace(endpoint, preferences.standard().open(InternetFamily.IPV6))
                : now;
    }

    /**
     * The socket to be connected to {@code peer}.
     *
     * @param own the address that it is bound to, which stays the same; null if it is not bound
     */
    StreamKind forPeer(
            StreamKind now,
            Endpoint endpoint,
            @Nullable SocketAddress peer,
            @Nullable SocketAddress own)
            throws IOException {
        if (!(peer instanceof InetSocketAddress internet) || internet.isUnresolved()) {
            return now; // refused by whoever asks
        }
        return settle(now, endpoint, internet, own, preferences.forPeer(internet));
    }

    /** The socket to listen with at {@code address}. */
    StreamKind forListener(StreamKind now, Endpoint endpoint, SocketAddress address)
            throws IOException {
        if (!(address instanceof InetSocketAddress internet) || internet.isUnresolved()) {
            return now;
        }
        return settle(now, endpoint, internet, null, preferences.forListener(internet));
    }

    /** Another such socket, not bound yet. */
    StreamKind forListenerAgain(StreamKind now, Endpoint endpoint, InetSocketAddress address)
            throws IOException {
        var wanted = preferences.forListener(address);
        return replace(endpoint, wanted.open((InternetFamily) now.addresses()));
    }

    private StreamKind settle(
            StreamKind now,
            Endpoint endpoint,
            InetSocketAddress address,
            @Nullable SocketAddress own,
            TransportList wanted)
            throws IOException {
        if (own == null && needsIpv6(now, address)) {
            return replace(endpoint, wanted.open(InternetFamily.IPV6));
        }
        if (wanted.equals(preferences.standard())) {
            return now;
        }
        if (now.transport() instanceof FamilyTransport
                && wanted.preferred().getFirst().equals(now.transport())) {
            return now.withRefusals(List.of());
        }
        if (own == null && anyFamily) {
            return replace(endpoint, wanted.open());
        }
        var other = replace(endpoint, wanted.open((InternetFamily) now.addresses()));
        if (own != null) {
            endpoint.call(() -> other.bind(endpoint.descriptor(), own));
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
            setAgain(kind, endpoint, option.getKey(), option.getValue());
        }
        return kind;
    }

    @SuppressWarnings("unchecked") // it was of the right type the first time
    private static <T> void setAgain(
            StreamKind kind, Endpoint endpoint, SocketOption<T> name, Object value)
            throws IOException {
        kind.options().set(endpoint, name, (T) value);
    }
}
