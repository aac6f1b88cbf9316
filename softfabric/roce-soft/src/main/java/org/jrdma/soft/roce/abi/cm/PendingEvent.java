package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection manager event that was not taken yet.
 *
 * @param identifier the identifier of the event; for a connect request, the new identifier
 * @param listener the listening identifier of a connect request; otherwise null
 * @param type the {@code RDMA_CM_EVENT_} code
 * @param status 0, a negated errno, or a code from the peer
 * @param parameters writes the {@code param} of the event except for the private data
 */
record PendingEvent(
        IdentifierObject identifier,
        @Nullable IdentifierObject listener,
        int type,
        int status,
        Consumer<MemorySegment> parameters,
        MemorySegment privateData) {

    /** The identifier that cannot be destroyed before the event is acknowledged. */
    IdentifierObject owner() {
        return listener == null ? identifier : listener;
    }
}
