package org.jrdma.cli.perf;

import java.io.IOException;
import java.util.Optional;

/**
 * One side of a connection whose performance is measured. One side measures, the other responds.
 * Confined to one thread.
 */
interface Link extends AutoCloseable {

    /** Describes the connection of a socket: address, transport, and the reason for a fallback. */
    default Optional<String> connection() {
        return Optional.empty();
    }

    /** Prepares exchanges of one size. Both sides call this before either starts to exchange. */
    default void prepare(int bytes) throws IOException {}

    /**
     * Performs a round trip, or a one-sided operation until it completes. Called by the measuring
     * side.
     */
    void exchange(int bytes) throws IOException;

    /** Responds to a number of exchanges. */
    default void answer(int bytes, int count) throws IOException {}

    /** Sends messages without waiting for each. Returns when the peer has all of them. */
    void stream(int bytes, int count) throws IOException;

    /** Receives the messages of {@link #stream}. */
    default void absorb(int bytes, int count) throws IOException {}

    @Override
    void close() throws IOException;
}
