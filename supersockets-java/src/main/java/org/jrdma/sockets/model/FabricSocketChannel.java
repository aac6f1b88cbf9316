package org.jrdma.sockets.model;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * A stream of bytes to a peer, over one of the {@link Transport}s. It is a {@link SocketChannel} in
 * all that programs know of one, and reads and writes {@link MemorySegment}s besides.
 *
 * <p>Safe for use by several threads: one at a time reads, one at a time writes, and neither waits
 * for the other. A virtual thread that waits never holds its carrier. Once it is closed, whatever
 * is asked of it is refused with {@link java.nio.channels.ClosedChannelException}.
 */
public abstract class FabricSocketChannel extends SocketChannel {

    /** For the implementation in this module; programs do not extend this class. */
    protected FabricSocketChannel(SelectorProvider provider) {
        super(provider);
    }

    /**
     * The way that its bytes take. Before it is connected, the one that they take at the latest: a
     * way past the kernel's sockets is tried first, at connect.
     */
    public abstract Transport transport();

    /**
     * Reads into native memory, without a copy in between.
     *
     * @return the bytes read; 0 if there are none and the channel does not block; -1 at the end of
     *     the stream
     * @throws IllegalArgumentException if it is on the heap, or read-only
     * @throws IllegalStateException if its arena is closed
     */
    public abstract long read(MemorySegment target) throws IOException;

    /**
     * Writes native memory, without a copy in between.
     *
     * @return the bytes written: all, or what there was room for if the channel does not block
     * @throws IllegalArgumentException if it is on the heap
     * @throws IllegalStateException if its arena is closed
     */
    public abstract long write(MemorySegment source) throws IOException;
}
