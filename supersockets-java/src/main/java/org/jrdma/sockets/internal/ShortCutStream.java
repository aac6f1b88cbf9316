package org.jrdma.sockets.internal;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * One end of a stream that goes past the kernel's sockets. Sends and receives without waiting, and
 * answers as system calls do: a number of bytes, or a negative errno.
 *
 * <p>One thread at a time sends and one receives; the rest is safe for several.
 */
public abstract class ShortCutStream extends Source {

    /** Receives what there is: 0 at the end of the stream. */
    public abstract int receive(MemorySegment target, long most);

    /** Sends what there is room for. */
    public abstract int send(MemorySegment source, long bytes);

    /** How much can be received at once. */
    public abstract int available();

    /** Receives no more than there is; the peer is not told. */
    public abstract void shutdownInput();

    /** Tells the peer that no more comes. Does not block. */
    public abstract void shutdownOutput();

    /**
     * Ends this end; nobody must be using it. Does not block.
     *
     * @param reset whether the peer is to learn of it as of a failure, where it can
     */
    public abstract void close(boolean reset);

    /** This end's address, where the stream has one of its own. */
    public Optional<InetSocketAddress> localAddress() {
        return Optional.empty();
    }
}
