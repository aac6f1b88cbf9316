package org.jrdma.sockets.internal;

import java.lang.foreign.MemorySegment;

/**
 * Moves bytes without waiting. The results are those of system calls: a number of bytes, or a
 * negative errno.
 */
public interface ByteMover {

    /** Receives at most {@code most} bytes: 0 at the end of the stream. */
    int receive(MemorySegment target, long most);

    /** Sends as many of the bytes as there is room for. */
    int send(MemorySegment source, long bytes);
}
