package org.jrdma.soft.roce.abi;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jrdma.abi.rdma.rdma_addrinfo;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.sockaddr_in;
import org.jrdma.abi.rdma.sockaddr_in6;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.roce.engine.Address;

/** librdmacm's addresses by name. */
final class AddressExports {

    /** Numbers of {@code getaddrinfo}, which librdmacm leaves in errno. */
    static final int NO_NAME = -2;

    static final int NO_SERVICE = -8;

    private static final int MOST_PORT = 0xffff;
    private static final int IPV4_BYTES = 4;

    /** The address follows. */
    private static final GroupLayout LAYOUT =
            MemoryLayout.structLayout(
                    rdma_addrinfo.layout(), sockaddr_in6.layout()); // or the shorter sockaddr_in

    private AddressExports() {}

    /**
     * Has Java look a name up, which may wait for who knows it: for a thread that can. Services are
     * numbers.
     */
    @Exported(value = "rdma_getaddrinfo", failure = Failure.MINUS_ONE)
    static int lookUp(long host, long service, long hints, long target) {
        Memory.at(target, ValueLayout.ADDRESS.byteSize())
                .set(ValueLayout.ADDRESS, 0, find(host, service, hints));
        return 0;
    }

    /** An {@code rdma_addrinfo} that somebody must {@link #free}. */
    static MemorySegment find(long host, long service, long hints) {
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
        var passive = (flags & rdma_h.RAI_PASSIVE()) != 0;
        var name =
                new SocketName(
                        host == 0
                                ? nobody(passive)
                                : address(
                                        Downcalls.textAt(MemorySegment.ofAddress(host)),
                                        (flags & rdma_h.RAI_NUMERICHOST()) != 0),
                        service == 0
                                ? 0
                                : port(Downcalls.textAt(MemorySegment.ofAddress(service))));
        var result = Structures.allocate(LAYOUT, LAYOUT);
        var place = result.asSlice(rdma_addrinfo.layout().byteSize());
        var layout = name.address().isIpv4() ? sockaddr_in.layout() : sockaddr_in6.layout();
        var length = (int) layout.byteSize();
        name.write(place);
        rdma_addrinfo.ai_flags(result, flags & rdma_h.RAI_PASSIVE());
        rdma_addrinfo.ai_family(result, SocketName.family(place));
        rdma_addrinfo.ai_qp_type(result, type);
        rdma_addrinfo.ai_port_space(result, portSpace);
        if (passive) {
            rdma_addrinfo.ai_src_addr(result, place);
            rdma_addrinfo.ai_src_len(result, length);
        } else {
            rdma_addrinfo.ai_dst_addr(result, place);
            rdma_addrinfo.ai_dst_len(result, length);
        }
        return result;
    }

    private static int orElse(int value, int otherwise) {
        return value == 0 ? otherwise : value;
    }

    /** Of no name: any address to listen at, the loopback's to connect to. */
    private static Address nobody(boolean passive) {
        return Address.ipv4(passive ? 0 : 127 << 24 | 1);
    }

    private static Address address(String host, boolean numeric) {
        try {
            var found = numeric ? InetAddress.ofLiteral(host) : InetAddress.getByName(host);
            var bytes = MemorySegment.ofArray(found.getAddress());
            return found.getAddress().length == IPV4_BYTES
                    ? Address.ipv4(bytes.get(SocketName.IPV4, 0))
                    : Gids.read(bytes);
        } catch (UnknownHostException | IllegalArgumentException e) {
            throw new Refusal(NO_NAME, "There is no host \"%s\".".formatted(host));
        }
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
        throw new Refusal(NO_SERVICE, "\"%s\" is not the number of a port.".formatted(service));
    }

    @Exported(value = "rdma_freeaddrinfo", failure = Failure.NONE)
    static void free(long result) {
        if (result != 0 && Structures.object(result, GroupLayout.class) == LAYOUT) {
            Structures.release(Memory.at(result, LAYOUT));
        }
    }
}
