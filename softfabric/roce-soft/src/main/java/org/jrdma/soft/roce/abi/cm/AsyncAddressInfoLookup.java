package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jspecify.annotations.Nullable;

/**
 * The asynchronous address lookup of an {@code rdma_cm_id} ({@code rdma_resolve_addrinfo}) and its
 * result. The identifier owns the result until the program receives it with {@code
 * rdma_query_addrinfo}. Guarded by the lock of {@link ConnectionExports}.
 */
final class AsyncAddressInfoLookup {

    private final IdentifierEvents events;

    /**
     * True from the start of a lookup until the program has received the result or the lookup has
     * failed.
     */
    private boolean pending;

    private @Nullable MemorySegment result;

    AsyncAddressInfoLookup(IdentifierEvents events) {
        this.events = events;
    }

    /**
     * Marks a lookup as started.
     *
     * @throws ErrnoException with {@code EBUSY} if another lookup is running or the program has not
     *     received its result
     */
    void begin() {
        ErrnoException.throwIf(pending, Errno.EBUSY);
        pending = true;
    }

    /** Cancels a lookup that could not be started. No event is reported. */
    void cancel() {
        pending = false;
    }

    /** Ends the lookup and reports to the program that the name could not be resolved. */
    void notFound() {
        events.report(rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR(), -Errno.ENOENT);
        pending = false;
    }

    /**
     * Stores the result of the lookup and reports it to the program. If the identifier was stopped,
     * the result is freed instead.
     *
     * @param info an {@code rdma_addrinfo}
     */
    void found(MemorySegment info) {
        if (events.isStopped()) {
            AddressInfoExports.free(info.address());
            return;
        }
        var reported = false;
        try {
            events.report(rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED());
            result = info;
            reported = true;
        } finally {
            if (!reported) {
                AddressInfoExports.free(info.address());
            }
        }
    }

    /**
     * Returns the result and passes its ownership to the caller.
     *
     * @throws ErrnoException with {@code ENOENT} if there is no result
     */
    MemorySegment take() {
        if (result == null) {
            throw new ErrnoException(Errno.ENOENT);
        }
        var taken = result;
        result = null;
        pending = false;
        return taken;
    }

    /** Frees the result if the program has not received it. */
    void free() {
        if (result != null) {
            AddressInfoExports.free(result.address());
        }
    }
}
