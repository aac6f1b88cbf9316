package org.jrdma.sockets.model;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * A byte stream to a peer over one of the {@link Transport}s.
 *
 * <p>In addition to the methods of {@link SocketChannel}, the channel can read into and write from
 * a {@link MemorySegment}.
 *
 * <p>Safe for use by multiple threads: one thread at a time reads, one thread at a time writes, and
 * neither waits for the other. A waiting virtual thread releases its carrier thread. After the
 * channel is closed, its operations throw {@link java.nio.channels.ClosedChannelException}.
 */
public abstract class FabricSocketChannel extends SocketChannel {

    /** Creates a channel. Only this module extends the class. */
    protected FabricSocketChannel(SelectorProvider provider) {
        super(provider);
    }

    /**
     * Returns the transport in use. Before the channel is connected, returns the transport that is
     * tried last: kernel sockets are tried only if no other preferred transport reaches the peer.
     */
    public abstract Transport transport();

    /**
     * Reads into native memory without an intermediate copy.
     *
     * @param target the memory to read into
     * @return the number of bytes read; 0 if the channel is non-blocking and no byte is available;
     *     -1 at the end of the stream
     * @throws IllegalArgumentException if the memory is on the heap, or read-only
     * @throws IllegalStateException if the arena of the memory is closed
     */
    public abstract long read(MemorySegment target) throws IOException;

    /**
     * Writes native memory without an intermediate copy.
     *
     * @param source the memory to write
     * @return the number of bytes written: all of them, or as many as fit into the send buffer if
     *     the channel is non-blocking
     * @throws IllegalArgumentException if the memory is on the heap
     * @throws IllegalStateException if the arena of the memory is closed
     */
    public abstract long write(MemorySegment source) throws IOException;
}
