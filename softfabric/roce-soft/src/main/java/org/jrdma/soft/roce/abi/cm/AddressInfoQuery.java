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
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of {@code rdma_getaddrinfo} or {@code rdma_resolve_addrinfo}.
 *
 * @param name the host name or address that the program has passed; null if it has passed NULL
 * @param address the IP address of the host; null if {@code name} is a host name, which must be
 *     resolved
 * @param port the port number; 0 if the program has passed no service
 * @param flags the {@code RAI_} flags
 * @param type the queue pair type, an {@code IBV_QPT_} code
 * @param portSpace the port space, an {@code RDMA_PS_} code
 */
record AddressInfoQuery(
        @Nullable String name,
        @Nullable RoceGid address,
        int port,
        int flags,
        int type,
        int portSpace) {

    private static final int MAX_PORT = 0xffff;

    /**
     * Decodes the arguments of the C function without resolving the host name.
     *
     * @throws ErrnoException if an argument is invalid or not supported
     */
    static AddressInfoQuery read(long host, long service, long hints) {
        var flags = 0;
        var type = rdma_h.IBV_QPT_RC();
        var portSpace = rdma_h.RDMA_PS_TCP();
        if (hints != 0) {
            var structure = CallerMemory.at(hints, rdma_addrinfo.layout());
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
     * Returns the address for a query without a host name: the wildcard address for a listener, or
     * the loopback address for a connection.
     */
    private static RoceGid defaultAddress(boolean passive) {
        return RoceGid.ipv4(passive ? 0 : 127 << 24 | 1);
    }

    /**
     * Returns the IP address that a text contains in numeric form, or null if the text is a host
     * name.
     *
     * @throws ErrnoException if the text is a host name and {@code numeric} is true
     */
    private static @Nullable RoceGid literal(String name, boolean numeric) {
        try {
            return RoceGid.of(InetAddress.ofLiteral(name));
        } catch (IllegalArgumentException e) {
            if (numeric) {
                throw new ErrnoException(
                        AddressInfoExports.NO_NAME, "\"%s\" is not an address.".formatted(name));
            }
            return null;
        }
    }

    private static int port(String service) {
        try {
            var number = Integer.parseInt(service);
            if (number >= 0 && number <= MAX_PORT) {
                return number;
            }
        } catch (NumberFormatException e) {
            // The ErrnoException below reports the failure.
        }
        throw new ErrnoException(
                AddressInfoExports.NO_SERVICE, "\"%s\" is not a port number.".formatted(service));
    }

    /** Returns true if the address is known without resolving a host name. */
    boolean isNumeric() {
        return address != null;
    }

    /**
     * Creates the result of the query. Blocks while the host name is resolved, unless {@link
     * #isNumeric} returns true.
     *
     * @return an {@code rdma_addrinfo}, which the caller must release with {@link
     *     AddressInfoExports#free}
     * @throws UnknownHostException if the host name cannot be resolved
     */
    MemorySegment resolve() throws UnknownHostException {
        var resolved =
                new SocketName(
                        address == null ? RoceGid.of(InetAddress.getByName(name)) : address, port);
        var result =
                StructureRegistry.allocate(AddressInfoExports.LAYOUT, AddressInfoExports.LAYOUT);
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
