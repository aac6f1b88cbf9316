package org.jrdma.verbs.queue;

import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.model.Completion;

/**
 * The future of an operation in flight. The future completes when the completion of the operation
 * is polled. Contains only the name of the queue pair: work queues refer to pending transfers, and
 * a reference to the queue pair would keep it reachable, so that a leak could not be reported.
 */
public final class PendingTransfer extends CompletableFuture<Completion> {

    private final String target;
    private final String operation;

    /**
     * Creates the future of an operation that is about to be posted.
     *
     * @param target the name of the queue pair or shared receive queue
     * @param operation the name of the operation
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

    /** Fails the transfer because the dispatcher has stopped and will not poll its completion. */
    public void fail(Exception cause) {
        completeExceptionally(
                new FabricException(
                        "The completion of "
                                + operation
                                + " is unknown, because the dispatcher has stopped",
                        0,
                        cause));
    }

    /** Fails the transfer because its queue was closed before the operation completed. */
    public void abandon() {
        completeExceptionally(closedException());
    }

    /**
     * Creates the exception for a thread that waits for a transfer whose queue was closed before
     * the transfer completed.
     */
    public IllegalStateException closedException() {
        return new IllegalStateException(
                "%s was closed before %s completed".formatted(target, operation));
    }
}
