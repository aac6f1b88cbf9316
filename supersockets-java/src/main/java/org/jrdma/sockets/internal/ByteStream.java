package org.jrdma.sockets.internal;

import java.io.IOException;

/**
 * One end of a connected stream of bytes. One thread at a time sends and one receives; the other
 * methods are safe for use by multiple threads.
 */
public interface ByteStream extends ByteMover {

    /** The number of bytes that can be received without waiting, or a negative errno. */
    int available();

    /** Ends receiving; the peer is not notified. */
    void shutdownInput() throws IOException;

    /** Notifies the peer that no more bytes follow. Does not block. */
    void shutdownOutput() throws IOException;
}
