package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.net.UnknownHostException;
import org.jrdma.abi.rdma.rdma_addrinfo;
import org.jrdma.abi.rdma.sockaddr_in6;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.Failure;
import org.jrdma.soft.roce.abi.Memory;
import org.jrdma.soft.roce.abi.Structures;

/** Address resolution by name: {@code rdma_getaddrinfo}. */
final class AddressExports {

    /** Error codes of {@code getaddrinfo}, which librdmacm stores in errno. */
    static final int NO_NAME = -2;

    static final int NO_SERVICE = -8;

    /** An {@code rdma_addrinfo} followed by its address. */
    static final GroupLayout LAYOUT =
            MemoryLayout.structLayout(
                    rdma_addrinfo.layout(), sockaddr_in6.layout()); // or the shorter sockaddr_in

    private AddressExports() {}

    /**
     * Resolves a name with Java. Blocks until name resolution has finished, so it needs a thread
     * that may block. Services are port numbers.
     */
    @Exported(value = "rdma_getaddrinfo", failure = Failure.MINUS_ONE)
    static int lookUp(long host, long service, long hints, long target) {
        var query = AddressInfoQuery.read(host, service, hints);
        try {
            Memory.setPointer(target, query.resolve());
        } catch (UnknownHostException e) {
            throw new ErrnoException(
                    NO_NAME, "Cannot resolve the host name \"%s\".".formatted(query.name()));
        }
        return 0;
    }

    @Exported(value = "rdma_freeaddrinfo", failure = Failure.NONE)
    static void free(long result) {
        if (result != 0 && Structures.object(result, GroupLayout.class) == LAYOUT) {
            Structures.release(Memory.at(result, LAYOUT));
        }
    }
}
