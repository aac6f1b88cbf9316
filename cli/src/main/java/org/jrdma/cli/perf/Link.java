package org.jrdma.cli.perf;

import java.io.IOException;
import java.util.Optional;

/**
 * One side of a way to move bytes between two processes. One side measures, the other does its
 * part. Belongs to one thread.
 */
interface Link extends AutoCloseable {

    /** Which way it has taken in the end, where that need not be the one asked for. */
    default Optional<String> taken() {
        return Optional.empty();
    }

    /** Before exchanges of one size, on each side, and before the other side begins. */
    default void prepare(int bytes) throws IOException {}

    /**
     * Of the side that measures: there and back, or until it is done if that side does it alone.
     */
    void exchange(int bytes) throws IOException;

    /** The other side's part in so many exchanges. */
    default void answer(int bytes, int count) throws IOException {}

    /** Sends so many messages as fast as this way can. Returns when all are there. */
    void stream(int bytes, int count) throws IOException;

    /** The other side's part in that. */
    default void absorb(int bytes, int count) throws IOException {}

    @Override
    void close() throws IOException;
}
