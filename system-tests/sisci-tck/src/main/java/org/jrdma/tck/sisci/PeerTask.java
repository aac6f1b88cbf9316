package org.jrdma.tck.sisci;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * A task that a {@link Peer} runs. Its captured variables are serialized, so they can be numbers
 * and texts, but not objects of a fabric.
 */
@FunctionalInterface
public interface PeerTask<T extends @Nullable Object> extends Serializable {

    /**
     * Runs the task.
     *
     * @param context the state of the peer
     */
    T run(PeerTaskState context) throws Exception;

    /** A task without a result. */
    @FunctionalInterface
    interface Action extends Serializable {
        /** Runs the action. */
        void run(PeerTaskState context) throws Exception;
    }
}
