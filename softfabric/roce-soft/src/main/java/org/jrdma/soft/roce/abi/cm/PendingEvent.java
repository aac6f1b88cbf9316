package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection manager event that the program has not received yet.
 *
 * @param identifier the identifier that the event is about; for a connect request, the new
 *     identifier
 * @param listener the listening identifier for a connect request; otherwise null
 * @param type the {@code RDMA_CM_EVENT_} code
 * @param status 0, a negated errno, or a code from the peer
 * @param parameters a function that writes the {@code param} member of the event except for the
 *     private data
 * @param privateData the private data from the peer
 */
record PendingEvent(
        IdentifierObject identifier,
        @Nullable IdentifierObject listener,
        int type,
        int status,
        Consumer<MemorySegment> parameters,
        MemorySegment privateData) {

    /**
     * The {@code rdma_cm_id} that cannot be destroyed before the program has acknowledged this
     * event.
     */
    IdentifierObject owner() {
        return listener == null ? identifier : listener;
    }
}
