package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.soft.roce.abi.ErrnoException;

/** What a context owns and destroys when it is closed. */
interface ContextResource {

    /**
     * Sees to it that no event about it comes any more. Those given out may still be acknowledged.
     */
    default void stop() {}

    /**
     * Destroys it and takes its structure back. Does not wait for what was not acknowledged.
     *
     * @throws ErrnoException if others need it
     */
    void destroy();
}
