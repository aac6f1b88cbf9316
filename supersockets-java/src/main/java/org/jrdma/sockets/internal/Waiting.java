package org.jrdma.sockets.internal;

import java.io.IOException;
import org.jrdma.ffi.Deadline;

/** How one thread at a time waits until something can be tried again, and others end that. */
public interface Waiting {

    /**
     * Waits. Returns early when {@link #end()} is called and when the thread is interrupted, whose
     * interrupt status stays set.
     *
     * @return false if the deadline passed
     */
    boolean await(Deadline deadline) throws IOException;

    /** Ends the wait that there is, and those to come at once. */
    void end();
}
