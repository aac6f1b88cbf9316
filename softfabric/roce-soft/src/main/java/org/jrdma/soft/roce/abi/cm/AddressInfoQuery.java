package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jrdma.abi.rdma.rdma_addrinfo;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.sockaddr_in;
import org.jrdma.abi.rdma.sockaddr_in6;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Gids;
import org.jrdma.soft.roce.abi.Memory;
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.engine.Address;
import org.jspecify.annotations.Nullable;

/**
 * A query for an {@code rdma_addrinfo}.
 *
 * @param name the host name as given; null for none
 * @param address the address of the host; null if the name must be resolved
 * @param flags the {@code RAI_} flags
 * @param type the queue pair type, an {@code IBV_QPT_} code
 */
record AddressInfoQuery(
        @Nullable String name,
        @Nullable Address address,
        int port,
        int flags,
        int type,
        int portSpace) {

    private static final int MAX_PORT = 0xffff;
    private static final int IPV4_BYTES = 4;

    /** Decodes the arguments of C, without resolving a name. */
    static AddressInfoQuery read(long host, long service, long hints) {
        var flags = 0;
        var type = rdma_h.IBV_QPT_RC();
        var portSpace = rdma_h.RDMA_PS_TCP();
        if (hints != 0) {
            var structure = Memory.at(hints, rdma_addrinfo.layout());
            flags = rdma_addrinfo.ai_flags(structure);
            type = orDefault(rdma_addrinfo.ai_qp_type(structure), type);
            portSpace = orDefault(rdma_addrinfo.ai_port_space(structure), portSpace);
        }
        if ((flags & rdma_h.RAI_SA()) != 0) {
            throw new ErrnoException(
                    Errno.EOPNOTSUPP, "RAI_SA is not supported: RoCE has no subnet administrator.");
        }
        ErrnoException.throwIf(host == 0 && service == 0, Errno.EINVAL);
        var name = host == 0 ? null : Downcalls.textAt(MemorySegment.ofAddress(host));
        return new AddressInfoQuery(
                name,
                name == null
                        ? defaultAddress((flags & rdma_h.RAI_PASSIVE()) != 0)
                        : literal(name, (flags & rdma_h.RAI_NUMERICHOST()) != 0),
                service == 0 ? 0 : port(Downcalls.textAt(MemorySegment.ofAddress(service))),
                flags,
                type,
                portSpace);
    }

    private static int orDefault(int value, int defaultValue) {
        return value == 0 ? defaultValue : value;
    }

    /**
     * The address without a name: the wildcard address for listening, the loopback address for
     * connecting.
     */
    private static Address defaultAddress(boolean passive) {
        return Address.ipv4(passive ? 0 : 127 << 24 | 1);
    }

    /**
     * Returns the address that a text contains; null if it is a name and {@code numeric} is false.
     */
    private static @Nullable Address literal(String name, boolean numeric) {
        try {
            return address(InetAddress.ofLiteral(name));
        } catch (IllegalArgumentException e) {
            if (numeric) {
                throw new ErrnoException(
                        AddressExports.NO_NAME, "\"%s\" is not an address.".formatted(name));
            }
            return null;
        }
    }

    private static Address address(InetAddress inetAddress) {
        var bytes = MemorySegment.ofArray(inetAddress.getAddress());
        return bytes.byteSize() == IPV4_BYTES
                ? Address.ipv4(bytes.get(SocketName.IPV4, 0))
                : Gids.read(bytes);
    }

    private static int port(String service) {
        try {
            var number = Integer.parseInt(service);
            if (number >= 0 && number <= MAX_PORT) {
                return number;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        throw new ErrnoException(
                AddressExports.NO_SERVICE, "\"%s\" is not a port number.".formatted(service));
    }

    /** Whether the query can be answered without resolving a name. */
    boolean isNumeric() {
        return address != null;
    }

    /**
     * Answers the query. Blocks while resolving the name, unless the query {@link #isNumeric}.
     *
     * @return an {@code rdma_addrinfo}, which the caller releases with {@link AddressExports#free}
     */
    MemorySegment resolve() throws UnknownHostException {
        var resolved =
                new SocketName(
                        address == null ? address(InetAddress.getByName(name)) : address, port);
        var result = Structures.allocate(AddressExports.LAYOUT, AddressExports.LAYOUT);
        var target = result.asSlice(rdma_addrinfo.layout().byteSize());
        var layout = resolved.address().isIpv4() ? sockaddr_in.layout() : sockaddr_in6.layout();
        var length = (int) layout.byteSize();
        var passive = flags & rdma_h.RAI_PASSIVE();
        resolved.write(target);
        rdma_addrinfo.ai_flags(result, passive);
        rdma_addrinfo.ai_family(result, SocketName.family(target));
        rdma_addrinfo.ai_qp_type(result, type);
        rdma_addrinfo.ai_port_space(result, portSpace);
        if (passive != 0) {
            rdma_addrinfo.ai_src_addr(result, target);
            rdma_addrinfo.ai_src_len(result, length);
        } else {
            rdma_addrinfo.ai_dst_addr(result, target);
            rdma_addrinfo.ai_dst_len(result, length);
        }
        return result;
    }
}
