package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jrdma.abi.rdma.sockaddr;
import org.jrdma.abi.rdma.sockaddr_in;
import org.jrdma.abi.rdma.sockaddr_in6;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Gids;
import org.jrdma.soft.roce.abi.Memory;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.network.Routes;

/**
 * An address and a port, which C represents as {@code sockaddr_in} or {@code sockaddr_in6}.
 *
 * @param scope the index of the interface of a link-local address; 0 for other addresses, or if it
 *     is unknown
 */
record SocketName(Address address, int port, int scope) {

    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final Address ANY_IPV4 = Address.ipv4(0);
    private static final Address ANY_IPV6 = new Address(0, 0);

    /** The IPv4 wildcard address without a port. */
    static final SocketName WILDCARD = new SocketName(ANY_IPV4, 0);

    private static final ValueLayout.OfShort PORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfInt IPV4 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Creates a socket name for an address that is not link-local. */
    SocketName(Address address, int port) {
        this(address, port, 0);
    }

    /** Returns the wildcard address of the family of another name, without a port. */
    static SocketName wildcardFor(SocketName other) {
        return new SocketName(other.address.isIpv4() ? ANY_IPV4 : ANY_IPV6, 0);
    }

    /**
     * Decodes a socket address.
     *
     * @throws ErrnoException if the pointer is NULL, or the address family is not supported
     */
    static SocketName read(long address) {
        return switch (family(Memory.at(address, Short.BYTES))) {
            case AF_INET -> {
                var memory = Memory.at(address, sockaddr_in.layout());
                yield new SocketName(
                        Address.ipv4(memory.get(IPV4, sockaddr_in.sin_addr$offset())),
                        Short.toUnsignedInt(memory.get(PORT, sockaddr_in.sin_port$offset())));
            }
            case AF_INET6 -> {
                var memory = Memory.at(address, sockaddr_in6.layout());
                var ip = Gids.read(memory.asSlice(sockaddr_in6.sin6_addr$offset()));
                yield new SocketName(
                        ip,
                        Short.toUnsignedInt(memory.get(PORT, sockaddr_in6.sin6_port$offset())),
                        Routes.isLinkLocal(ip) ? sockaddr_in6.sin6_scope_id(memory) : 0);
            }
            default -> throw new ErrnoException(Errno.EAFNOSUPPORT);
        };
    }

    /** Returns the family of a socket address. */
    static short family(MemorySegment name) {
        return sockaddr.sa_family(name);
    }

    /** Encodes this name in memory of zeros that is large enough for either form. */
    void write(MemorySegment target) {
        if (address.isIpv4()) {
            sockaddr_in.sin_family(target, AF_INET);
            target.set(PORT, sockaddr_in.sin_port$offset(), (short) port);
            target.set(IPV4, sockaddr_in.sin_addr$offset(), (int) address.low());
        } else {
            sockaddr_in6.sin6_family(target, AF_INET6);
            target.set(PORT, sockaddr_in6.sin6_port$offset(), (short) port);
            Gids.write(address, target.asSlice(sockaddr_in6.sin6_addr$offset()));
            sockaddr_in6.sin6_scope_id(target, scope);
        }
    }

    /** Whether this is a wildcard address. */
    boolean isWildcard() {
        return address.equals(ANY_IPV4) || address.equals(ANY_IPV6);
    }

    SocketName withPort(int other) {
        return new SocketName(address, other, scope);
    }

    SocketName withAddressOf(ConnectionDevice device) {
        return device.name(port);
    }

    /** Whether both names have the port in common, and an address. */
    boolean overlaps(SocketName other) {
        return port == other.port
                && (isWildcard() || other.isWildcard() || address.equals(other.address));
    }
}
