package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An event of the connection manager that nobody has taken.
 *
 * @param identifier what it is about; of a request, the one made for it
 * @param listener where a request came to; null for others
 * @param type C's number of it
 * @param status 0, an errno below zero, or a code of the peer's
 * @param parameters fills the {@code param} of the event but for the private data
 */
record PendingEvent(
        IdentifierObject identifier,
        @Nullable IdentifierObject listener,
        int type,
        int status,
        Consumer<MemorySegment> parameters,
        MemorySegment privateData) {

    /** Whose destruction waits until it is acknowledged. */
    IdentifierObject owner() {
        return listener == null ? identifier : listener;
    }
}
