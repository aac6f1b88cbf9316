package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jspecify.annotations.Nullable;

/**
 * The asynchronous address lookup of an identifier ({@code rdma_resolve_addrinfo}) and its result,
 * which the identifier owns until the program takes it. Guarded by the connection manager's lock.
 */
final class AddressInfoLookup {

    private final IdentifierEvents events;
    private boolean pending;
    private @Nullable MemorySegment result;

    AddressInfoLookup(IdentifierEvents events) {
        this.events = events;
    }

    /**
     * Starts a lookup.
     *
     * @throws ErrnoException if the previous result was not taken
     */
    void begin() {
        ErrnoException.throwIf(pending, Errno.EBUSY);
        pending = true;
    }

    /** Reports that the name is unknown. */
    void notFound() {
        pending = false;
        events.report(rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR(), -Errno.ENOENT);
    }

    /** Stores and reports a result, or frees it if the identifier was stopped. */
    void found(MemorySegment info) {
        if (events.isStopped()) {
            AddressExports.free(info.address());
            return;
        }
        result = info;
        events.report(rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED());
    }

    MemorySegment take() {
        if (result == null) {
            throw new ErrnoException(Errno.ENOENT);
        }
        var taken = result;
        result = null;
        pending = false;
        return taken;
    }

    /** Frees a result that was not taken. */
    void free() {
        if (result != null) {
            AddressExports.free(result.address());
        }
    }
}
