package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jrdma.abi.rdma.sockaddr;
import org.jrdma.abi.rdma.sockaddr_in;
import org.jrdma.abi.rdma.sockaddr_in6;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.network.Routes;

/**
 * An address and a port, as C has them in a {@code sockaddr_in} or {@code sockaddr_in6}.
 *
 * @param scope the interface that a link-local address is meant on; 0 for others, and where nobody
 *     has said it
 */
record SocketName(Address address, int port, int scope) {

    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final Address ANY_IPV4 = Address.ipv4(0);
    private static final Address ANY_IPV6 = new Address(0, 0);

    /** Any address of IPv4, and any port. */
    static final SocketName ANYWHERE = new SocketName(ANY_IPV4, 0);

    private static final ValueLayout.OfShort PORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfInt IPV4 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** An address that means the same on every interface. */
    SocketName(Address address, int port) {
        this(address, port, 0);
    }

    /** Any address of a family, and any port. */
    static SocketName anyAs(SocketName other) {
        return new SocketName(other.address.isIpv4() ? ANY_IPV4 : ANY_IPV6, 0);
    }

    /**
     * Reads one.
     *
     * @throws Refusal if there is none, or one of another family
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
            default -> throw new Refusal(Errno.EAFNOSUPPORT);
        };
    }

    /** Which family one is of. */
    static short family(MemorySegment name) {
        return sockaddr.sa_family(name);
    }

    /** Writes it to memory of zeros, which has room for either form. */
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

    /** Whether it stands for every address. */
    boolean isAnywhere() {
        return address.equals(ANY_IPV4) || address.equals(ANY_IPV6);
    }

    SocketName withPort(int other) {
        return new SocketName(address, other, scope);
    }

    SocketName withAddressOf(ConnectionDevice device) {
        return device.name(port);
    }

    /** Whether something could be for both. */
    boolean overlaps(SocketName other) {
        return port == other.port
                && (isAnywhere() || other.isAnywhere() || address.equals(other.address));
    }
}
