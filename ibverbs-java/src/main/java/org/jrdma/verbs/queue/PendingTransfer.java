package org.jrdma.verbs.queue;

import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.model.Completion;

/**
 * The future completion of an operation in flight. Refers to the queue pair only by name, because
 * the work queue holds pending transfers and must not keep an unclosed queue pair reachable.
 */
public final class PendingTransfer extends CompletableFuture<Completion> {

    private final String target;
    private final String operation;

    /**
     * Creates the future of an operation that is about to be posted.
     *
     * @param target the name of the queue pair or shared receive queue
     */
    public PendingTransfer(String target, String operation) {
        this.target = target;
        this.operation = operation;
    }

    public String target() {
        return target;
    }

    public String operation() {
        return operation;
    }

    /** Fails the transfer because its completion will not be polled. */
    public void fail(Exception cause) {
        completeExceptionally(
                new FabricException(
                        "The completion of "
                                + operation
                                + " is unknown, because the dispatcher has stopped",
                        0,
                        cause));
    }

    /** Fails the transfer because its queue is closed. */
    public void abandon() {
        completeExceptionally(closedException());
    }

    /** The exception for waiting for a transfer whose queue was closed. */
    public IllegalStateException closedException() {
        return new IllegalStateException(
                "%s was closed before %s completed".formatted(target, operation));
    }
}
