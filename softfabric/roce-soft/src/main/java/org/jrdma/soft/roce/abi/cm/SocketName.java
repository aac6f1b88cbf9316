package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.sockaddr;
import org.jrdma.abi.rdma.sockaddr_in;
import org.jrdma.abi.rdma.sockaddr_in6;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.GidCodec;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * A socket address, which C represents as {@code sockaddr_in} or {@code sockaddr_in6}.
 *
 * @param port the port number; 0 if it is not specified
 * @param scope the index of the network interface of a link-local address; 0 for other addresses,
 *     or if the interface is unknown
 */
record SocketName(RoceGid address, int port, int scope) {

    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final RoceGid ANY_IPV4 = RoceGid.ipv4(0);
    private static final RoceGid ANY_IPV6 = new RoceGid(0, 0);

    /** The IPv4 wildcard address with port number 0. */
    static final SocketName WILDCARD = new SocketName(ANY_IPV4, 0);

    /** Creates a socket name without a network interface. */
    SocketName(RoceGid address, int port) {
        this(address, port, 0);
    }

    /** Returns the wildcard address with the address family of another name and port number 0. */
    static SocketName wildcardFor(SocketName other) {
        return new SocketName(other.address.isIpv4() ? ANY_IPV4 : ANY_IPV6, 0);
    }

    /**
     * Decodes a {@code sockaddr}.
     *
     * @param address a pointer
     * @throws ErrnoException if the pointer is NULL, or the address family is not supported
     */
    static SocketName read(long address) {
        return switch (family(CallerMemory.at(address, Short.BYTES))) {
            case AF_INET -> {
                var memory = CallerMemory.at(address, sockaddr_in.layout());
                yield new SocketName(
                        RoceGid.ipv4(BigEndian.integer(memory, sockaddr_in.sin_addr$offset())),
                        BigEndian.unsignedShort(memory, sockaddr_in.sin_port$offset()));
            }
            case AF_INET6 -> {
                var memory = CallerMemory.at(address, sockaddr_in6.layout());
                var ip = GidCodec.read(memory.asSlice(sockaddr_in6.sin6_addr$offset()));
                yield new SocketName(
                        ip,
                        BigEndian.unsignedShort(memory, sockaddr_in6.sin6_port$offset()),
                        ip.isLinkLocal() ? sockaddr_in6.sin6_scope_id(memory) : 0);
            }
            default -> throw new ErrnoException(Errno.EAFNOSUPPORT);
        };
    }

    /** Returns the address family of a {@code sockaddr}. */
    static short family(MemorySegment name) {
        return sockaddr.sa_family(name);
    }

    /**
     * Encodes this name as a {@code sockaddr_in} or {@code sockaddr_in6}.
     *
     * @param target memory that is filled with zeros and large enough for the structure
     */
    void write(MemorySegment target) {
        if (address.isIpv4()) {
            sockaddr_in.sin_family(target, AF_INET);
            BigEndian.putShort(target, sockaddr_in.sin_port$offset(), port);
            BigEndian.putInteger(target, sockaddr_in.sin_addr$offset(), (int) address.low());
        } else {
            sockaddr_in6.sin6_family(target, AF_INET6);
            BigEndian.putShort(target, sockaddr_in6.sin6_port$offset(), port);
            GidCodec.write(address, target.asSlice(sockaddr_in6.sin6_addr$offset()));
            sockaddr_in6.sin6_scope_id(target, scope);
        }
    }

    /** Returns true if the address is the IPv4 or the IPv6 wildcard address. */
    boolean isWildcard() {
        return address.equals(ANY_IPV4) || address.equals(ANY_IPV6);
    }

    SocketName withPort(int other) {
        return new SocketName(address, other, scope);
    }

    SocketName withAddressOf(ConnectionDevice device) {
        return device.name(port);
    }

    /**
     * Returns true if both names have the same port number, and the same address or at least one
     * wildcard address.
     */
    boolean overlaps(SocketName other) {
        return port == other.port
                && (isWildcard() || other.isWildcard() || address.equals(other.address));
    }
}
