package org.jrdma.sockets.internal;

import java.io.IOException;

/**
 * One end of a connected byte stream. One thread at a time may send and one may receive; the other
 * methods are safe for use by multiple threads.
 */
public interface ByteStream extends NonBlockingTransfer {

    /** Returns the number of bytes that can be received without waiting, or a negative errno. */
    int available();

    /** Shuts down the input direction. The peer is not notified. */
    void shutdownInput() throws IOException;

    /**
     * Shuts down the output direction, and notifies the peer that no more bytes follow. Does not
     * block.
     */
    void shutdownOutput() throws IOException;
}
