package org.jrdma.nvme;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;

/**
 * One command of an {@link AsyncNvmeQueue}.
 *
 * <p>Safe for use by multiple threads; thousands of virtual threads can wait at the same time. A
 * timeout or an interrupt does not cancel the command: the controller may access its memory until
 * it completes. If the queue is closed before the command completes, waiting threads get an
 * IllegalStateException.
 */
public final class NvmeOperation {

    private final AsyncNvmeQueue queue;
    private final CompletableFuture<Void> result = new CompletableFuture<>();

    NvmeOperation(AsyncNvmeQueue queue) {
        this.queue = queue;
    }

    /**
     * Waits until the command succeeds.
     *
     * @throws NvmeException if the command or the controller fails, or the thread is interrupted,
     *     whose interrupt status stays set
     * @throws org.jrdma.ffi.FabricTimeoutException if the command does not complete before the
     *     timeout
     * @throws IllegalStateException if the queue was closed before the command completed
     */
    public void await(Duration timeout) throws FabricException {
        var deadline = Deadline.after(timeout);
        try {
            var _ = result.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw deadline.missed("No completion of a command of %s".formatted(queue));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof FabricException failure) {
                throw failure;
            }
            throw new IllegalStateException(
                    "%s was closed before the command completed".formatted(queue), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NvmeException(
                    "Interrupted while waiting for a command of %s".formatted(queue));
        }
    }

    /** Returns true if the command has succeeded or failed. */
    public boolean isCompleted() {
        return result.isDone();
    }

    /**
     * Returns a future that completes when the command succeeds, or completes exceptionally. Its
     * dependent stages run in the common pool. Canceling the future does not cancel the command.
     */
    public CompletableFuture<Void> future() {
        return result.thenRunAsync(() -> {});
    }

    void succeed() {
        result.complete(null);
    }

    void fail(Throwable failure) {
        result.completeExceptionally(failure);
    }
}
