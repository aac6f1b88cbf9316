package org.jrdma.sockets.internal;

import java.io.IOException;

/**
 * One end of a connected byte stream. One thread at a time may send and one may receive; the other
 * methods are safe for use by multiple threads.
 */
public interface ByteStream extends ByteMover {

    int available();

    /** Stops receiving; the peer is not notified. */
    void shutdownInput() throws IOException;

    /** Notifies the peer that no more bytes follow. Does not block. */
    void shutdownOutput() throws IOException;
}
