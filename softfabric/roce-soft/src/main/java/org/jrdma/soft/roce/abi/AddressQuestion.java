package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jrdma.abi.rdma.rdma_addrinfo;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.sockaddr_in;
import org.jrdma.abi.rdma.sockaddr_in6;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.roce.engine.Address;
import org.jspecify.annotations.Nullable;

/**
 * What somebody wants the {@code rdma_addrinfo} of.
 *
 * @param name of the host, as it was given; null for none
 * @param address of the host; null if that is for those to say who know names
 * @param flags {@code RAI_}
 * @param type of the queue pair, in C's code
 */
record AddressQuestion(
        @Nullable String name,
        @Nullable Address address,
        int port,
        int flags,
        int type,
        int portSpace) {

    private static final int MOST_PORT = 0xffff;
    private static final int IPV4_BYTES = 4;

    /** As C asks; asks nobody. */
    static AddressQuestion read(long host, long service, long hints) {
        var flags = 0;
        var type = rdma_h.IBV_QPT_RC();
        var portSpace = rdma_h.RDMA_PS_TCP();
        if (hints != 0) {
            var wanted = Memory.at(hints, rdma_addrinfo.layout());
            flags = rdma_addrinfo.ai_flags(wanted);
            type = orElse(rdma_addrinfo.ai_qp_type(wanted), type);
            portSpace = orElse(rdma_addrinfo.ai_port_space(wanted), portSpace);
        }
        if ((flags & rdma_h.RAI_SA()) != 0) {
            throw new Refusal(Errno.EOPNOTSUPP, "There is no subnet administrator to ask.");
        }
        if (host == 0 && service == 0) {
            throw new Refusal(Errno.EINVAL);
        }
        var name = host == 0 ? null : Downcalls.textAt(MemorySegment.ofAddress(host));
        return new AddressQuestion(
                name,
                name == null
                        ? nobody((flags & rdma_h.RAI_PASSIVE()) != 0)
                        : literal(name, (flags & rdma_h.RAI_NUMERICHOST()) != 0),
                service == 0 ? 0 : port(Downcalls.textAt(MemorySegment.ofAddress(service))),
                flags,
                type,
                portSpace);
    }

    private static int orElse(int value, int otherwise) {
        return value == 0 ? otherwise : value;
    }

    /** Of no name: any address to listen at, the loopback's to connect to. */
    private static Address nobody(boolean passive) {
        return Address.ipv4(passive ? 0 : 127 << 24 | 1);
    }

    /** Null for a name, if it may be one. */
    private static @Nullable Address literal(String name, boolean numeric) {
        try {
            return address(InetAddress.ofLiteral(name));
        } catch (IllegalArgumentException e) {
            if (numeric) {
                throw new Refusal(
                        AddressExports.NO_NAME, "\"%s\" is not an address.".formatted(name));
            }
            return null;
        }
    }

    private static Address address(InetAddress found) {
        var bytes = MemorySegment.ofArray(found.getAddress());
        return bytes.byteSize() == IPV4_BYTES
                ? Address.ipv4(bytes.get(SocketName.IPV4, 0))
                : Gids.read(bytes);
    }

    private static int port(String service) {
        try {
            var number = Integer.parseInt(service);
            if (number >= 0 && number <= MOST_PORT) {
                return number;
            }
        } catch (NumberFormatException e) {
            // as what is no port
        }
        throw new Refusal(
                AddressExports.NO_SERVICE,
                "\"%s\" is not the number of a port.".formatted(service));
    }

    /** Whether the answer is known without anybody else. */
    boolean isNumeric() {
        return address != null;
    }

    /**
     * Asks, and waits for, who knows names, unless it {@link #isNumeric}.
     *
     * @return an {@code rdma_addrinfo} that somebody must {@link AddressExports#free}
     */
    MemorySegment answer() throws UnknownHostException {
        var found =
                new SocketName(
                        address == null ? address(InetAddress.getByName(name)) : address, port);
        var result = Structures.allocate(AddressExports.LAYOUT, AddressExports.LAYOUT);
        var place = result.asSlice(rdma_addrinfo.layout().byteSize());
        var layout = found.address().isIpv4() ? sockaddr_in.layout() : sockaddr_in6.layout();
        var length = (int) layout.byteSize();
        var passive = flags & rdma_h.RAI_PASSIVE();
        found.write(place);
        rdma_addrinfo.ai_flags(result, passive);
        rdma_addrinfo.ai_family(result, SocketName.family(place));
        rdma_addrinfo.ai_qp_type(result, type);
        rdma_addrinfo.ai_port_space(result, portSpace);
        if (passive != 0) {
            rdma_addrinfo.ai_src_addr(result, place);
            rdma_addrinfo.ai_src_len(result, length);
        } else {
            rdma_addrinfo.ai_dst_addr(result, place);
            rdma_addrinfo.ai_dst_len(result, length);
        }
        return result;
    }
}
