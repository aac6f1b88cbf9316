package org.jrdma.volume.client;

import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.Operation;
import org.jspecify.annotations.Nullable;

/** The pause before a request is repeated. */
final class RequestRetry {

    private static final Duration PAUSE = Duration.ofMillis(20);

    private RequestRetry() {}

    /**
     * Waits before the repetition of a request.
     *
     * @param cause the failure of the request; null if it has only to wait
     * @throws FabricException if the deadline has passed, or the thread is interrupted
     */
    static void pause(Deadline deadline, Operation operation, @Nullable FabricException cause)
            throws FabricException {
        if (deadline.hasPassed()) {
            throw missed(deadline, operation, cause);
        }
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /** Returns the exception for a wait that was interrupted. */
    static VolumeException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new VolumeException("Interrupted while waiting for the coordinator", cause);
    }

    /** Returns the exception for a request that was not executed before its deadline. */
    static FabricException missed(
            Deadline deadline, Operation operation, @Nullable FabricException cause) {
        var event =
                operation == Operation.HELLO
                        ? "No coordinator answered"
                        : "No coordinator executed " + operation;
        var missed = deadline.missed(event, cause);
        return cause == null
                ? missed
                : new FabricTimeoutException(
                        "%s. %s".formatted(missed.getMessage(), cause.getMessage()), cause);
    }
}
