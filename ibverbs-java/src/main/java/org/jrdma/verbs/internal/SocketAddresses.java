package org.jrdma.verbs.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import org.jrdma.abi.rdma.sockaddr;
import org.jrdma.abi.rdma.sockaddr_in;
import org.jrdma.abi.rdma.sockaddr_in6;
import org.jspecify.annotations.Nullable;

/**
 * Converts between the C structures {@link sockaddr} of IPv4 and IPv6 and {@link
 * InetSocketAddress}.
 */
final class SocketAddresses {

    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_BYTES = 16;

    private SocketAddresses() {}

    /** Writes an address to a new structure. Returns NULL if the address is null. */
    static MemorySegment write(@Nullable InetSocketAddress address, Arena arena) {
        if (address == null) {
            return MemorySegment.NULL;
        }
        var ip = address.getAddress();
        return switch (ip) {
            case null ->
                    throw new IllegalArgumentException(
                            "The host name %s could not be resolved"
                                    .formatted(address.getHostString()));
            case Inet6Address ip6 -> {
                var segment = sockaddr_in6.allocate(arena);
                sockaddr_in6.sin6_family(segment, AF_INET6);
                BigEndian.setShort(segment, sockaddr_in6.sin6_port$offset(), address.getPort());
                copy(ip, segment, sockaddr_in6.sin6_addr$offset());
                sockaddr_in6.sin6_scope_id(segment, ip6.getScopeId());
                yield segment;
            }
            default -> {
                var segment = sockaddr_in.allocate(arena);
                sockaddr_in.sin_family(segment, AF_INET);
                BigEndian.setShort(segment, sockaddr_in.sin_port$offset(), address.getPort());
                copy(ip, segment, sockaddr_in.sin_addr$offset());
                yield segment;
            }
        };
    }

    private static void copy(InetAddress ip, MemorySegment segment, long offset) {
        var bytes = ip.getAddress();
        MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, offset, bytes.length);
    }

    static int family(MemorySegment segment) {
        return sockaddr.sa_family(segment);
    }

    /**
     * Reads an address. Empty if the structure contains no address or an address of another family
     * than IPv4 and IPv6.
     */
    static Optional<InetSocketAddress> read(MemorySegment segment) {
        return switch (sockaddr.sa_family(segment)) {
            case AF_INET ->
                    Optional.of(
                            address(
                                    segment,
                                    sockaddr_in.sin_addr$offset(),
                                    IPV4_BYTES,
                                    0,
                                    sockaddr_in.sin_port$offset()));
            case AF_INET6 ->
                    Optional.of(
                            address(
                                    segment,
                                    sockaddr_in6.sin6_addr$offset(),
                                    IPV6_BYTES,
                                    sockaddr_in6.sin6_scope_id(segment),
                                    sockaddr_in6.sin6_port$offset()));
            default -> Optional.empty();
        };
    }

    private static InetSocketAddress address(
            MemorySegment segment, long offset, int length, int scope, long portOffset) {
        var bytes = segment.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
        try {
            var ip =
                    scope == 0
                            ? InetAddress.getByAddress(bytes)
                            : Inet6Address.getByAddress(null, bytes, scope);
            return new InetSocketAddress(ip, BigEndian.getShort(segment, portOffset));
        } catch (UnknownHostException e) {
            throw new AssertionError("%d bytes are always a valid IP address".formatted(length), e);
        }
    }
}
