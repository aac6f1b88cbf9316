package org.jrdma.cli.perf;

import java.io.IOException;
import java.util.Optional;

/**
 * One side of a connection whose performance is measured. An exchange is one round trip or one
 * one-sided operation. One side measures, and the other responds. Confined to one thread.
 */
interface LinkEnd extends AutoCloseable {

    /**
     * Describes a socket connection: address, transport, and the reason for a fallback. Returns
     * empty if the link is not a socket.
     */
    default Optional<String> connection() {
        return Optional.empty();
    }

    /**
     * Prepares for exchanges of {@code bytes} bytes. Both sides call this method before either side
     * starts to exchange messages.
     */
    default void prepare(int bytes) throws IOException {}

    /**
     * Performs a round trip, or a one-sided operation, and waits until it is complete. Called by
     * the measuring side.
     */
    void exchange(int bytes) throws IOException;

    /** Responds to {@code count} exchanges. Called by the responding side. */
    default void answer(int bytes, int count) throws IOException {}

    /**
     * Sends messages without waiting for the arrival of each message. Returns when all messages
     * have arrived at the peer.
     */
    void stream(int bytes, int count) throws IOException;

    /** Receives the messages that the measuring side sends by {@link #stream}. */
    default void absorb(int bytes, int count) throws IOException {}

    @Override
    void close() throws IOException;
}
