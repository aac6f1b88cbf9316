package org.jrdma.sockets.internal;

import java.lang.foreign.MemorySegment;

/**
 * Transfers bytes without waiting. Each method returns the number of bytes that it has transferred,
 * or a negative errno.
 */
public interface NonBlockingTransfer {

    /** Receives at most {@code maxBytes} bytes; returns 0 at the end of the stream. */
    int receive(MemorySegment target, long maxBytes);

    /** Sends as many of the bytes as fit into the send buffer. */
    int send(MemorySegment source, long bytes);
}
