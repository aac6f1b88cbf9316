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

/** Between a {@link sockaddr} of the internet families and Java's address. */
final class SocketAddresses {

    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_BYTES = 16;

    private SocketAddresses() {}

    /** NULL for null. */
    static MemorySegment write(@Nullable InetSocketAddress address, Arena arena) {
        if (address == null) {
            return MemorySegment.NULL;
        }
        var ip = address.getAddress();
        return switch (ip) {
            case null ->
                    throw new IllegalArgumentException(
                            "%s has not been resolved: there is no such host"
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

    /** Which it is of. */
    static int family(MemorySegment segment) {
        return sockaddr.sa_family(segment);
    }

    /** Empty where no address was set, or one of another family. */
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
            return new InetSocketAddress(ip, BigEndian.getShort(segment, portOffset) & 0xffff);
        } catch (UnknownHostException e) {
            throw new AssertionError("an address of %d bytes".formatted(length), e);
        }
    }
}
