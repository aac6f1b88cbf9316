package org.jrdma.tck.sisci;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * Something that a {@link Peer} does. What it captures travels with it, so that can be a number or
 * a text, but nothing of a fabric's.
 */
@FunctionalInterface
public interface Work<T extends @Nullable Object> extends Serializable {

    /**
     * Does it.
     *
     * @param party what is there to do it with
     */
    T run(Party party) throws Exception;

    /** Work without a result. */
    @FunctionalInterface
    interface Deed extends Serializable {
        /** Does it. */
        void run(Party party) throws Exception;
    }
}
