package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.net.UnknownHostException;
import org.jrdma.abi.rdma.rdma_addrinfo;
import org.jrdma.abi.rdma.sockaddr_in6;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.StructureRegistry;

/**
 * The functions of librdmacm that resolve host names synchronously: {@code rdma_getaddrinfo} and
 * {@code rdma_freeaddrinfo}.
 */
final class AddressInfoExports {

    /**
     * The code {@code EAI_NONAME} of {@code getaddrinfo}: the host name is unknown. librdmacm
     * stores such codes in errno.
     */
    static final int NO_NAME = -2;

    /**
     * The code {@code EAI_SERVICE} of {@code getaddrinfo}: the service is unknown. librdmacm stores
     * such codes in errno.
     */
    static final int NO_SERVICE = -8;

    /**
     * The layout of a result: an {@code rdma_addrinfo} followed by the socket address that it
     * points to.
     */
    static final GroupLayout LAYOUT =
            MemoryLayout.structLayout(
                    rdma_addrinfo.layout(), sockaddr_in6.layout()); // a sockaddr_in fits as well

    private AddressInfoExports() {}

    /**
     * Implements {@code rdma_getaddrinfo} by {@link java.net.InetAddress}. The function blocks
     * until the name is resolved, so the caller's thread must be allowed to block. A service must
     * be a port number: service names are not supported.
     */
    @Exported(value = "rdma_getaddrinfo", failure = ErrorConvention.MINUS_ONE)
    static int lookUp(long host, long service, long hints, long target) {
        var query = AddressInfoQuery.read(host, service, hints);
        try {
            CallerMemory.setPointer(target, query.resolve());
        } catch (UnknownHostException e) {
            throw new ErrnoException(
                    NO_NAME, "Cannot resolve the host name \"%s\".".formatted(query.name()));
        }
        return 0;
    }

    @Exported(value = "rdma_freeaddrinfo", failure = ErrorConvention.NONE)
    static void free(long result) {
        if (result != 0 && StructureRegistry.object(result, GroupLayout.class) == LAYOUT) {
            StructureRegistry.release(CallerMemory.at(result, LAYOUT));
        }
    }
}
