package org.jrdma.sockets.internal;

import java.io.IOException;
import org.jrdma.ffi.Deadline;

/**
 * Lets a thread wait until an operation, such as a read, may succeed. One thread at a time waits;
 * other threads can end the wait.
 */
public interface Waiting {

    /**
     * Waits until the operation may succeed or the deadline passes. Returns earlier if {@link
     * #end()} is called, or if the thread is interrupted; the interrupt status remains set.
     *
     * @return false if the deadline has passed
     */
    boolean await(Deadline deadline) throws IOException;

    /** Ends the current wait. All later waits return immediately. */
    void end();
}
