package org.jrdma.sockets.internal;

import java.lang.foreign.MemorySegment;

/**
 * Transfers bytes without waiting. The results are those of system calls: a number of bytes, or a
 * negative errno.
 */
public interface ByteMover {

    /** Receives at most {@code maxBytes} bytes; returns 0 at the end of the stream. */
    int receive(MemorySegment target, long maxBytes);

    /** Sends as many of the bytes as the send buffer can take. */
    int send(MemorySegment source, long bytes);
}
