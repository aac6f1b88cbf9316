package org.jrdma.sockets.internal;

import java.io.IOException;
import org.jrdma.ffi.Deadline;

/**
 * Waits, on one thread at a time, until an operation may succeed. Other threads can end the wait.
 */
public interface Waiting {

    /**
     * Waits. Returns early if {@link #end()} is called, or if the thread is interrupted; its
     * interrupt status remains set.
     *
     * @return false if the deadline passed
     */
    boolean await(Deadline deadline) throws IOException;

    /** Ends the current wait, and all later ones immediately. */
    void end();
}
