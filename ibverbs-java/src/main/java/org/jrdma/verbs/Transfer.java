package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;

/**
 * An operation under way on a {@link AsyncQueuePair}, a {@link AsyncDatagramQueuePair} or a {@link
 * AsyncSharedReceiveQueue}.
 *
 * <p>Safe for use by several threads; virtual threads may wait by the thousand. Giving up waiting
 * does not stop the operation: its memory stays in the adapter's use until it completes. If the
 * queue is closed first, waiting ends with IllegalStateException.
 */
public final class Transfer {

    private final CompletableFuture<Completion> result = new CompletableFuture<>();

    /**
     * Its name only: the work queue holds this, and must not keep a forgotten queue pair or shared
     * queue.
     */
    private final String target;

    private final String operation;

    Transfer(String target, String operation) {
        this.target = target;
        this.operation = operation;
    }

    /**
     * Waits until it is done.
     *
     * @throws TransferException if it failed
     * @throws FabricTimeoutException if it is not done in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public Completion await(Duration timeout) throws FabricException, InterruptedIOException {
        var completion = awaitCompletion(timeout);
        if (!completion.isSuccess()) {
            throw new TransferException(operation, target, completion);
        }
        return completion;
    }

    /**
     * Waits until it is completed, in success or in failure.
     *
     * @throws FabricTimeoutException if it is not completed in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public Completion awaitCompletion(Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        try {
            return result.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw deadline.missed("No completion of %s on %s".formatted(operation, target));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof FabricException failure) {
                throw failure;
            }
            throw closed();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for " + operation);
        }
    }

    /** Whether it is completed, in success or in failure. */
    public boolean isCompleted() {
        return result.isDone();
    }

    /**
     * A future of its completion, whose stages run on the common pool. Cancelling it does not stop
     * the operation.
     */
    public CompletableFuture<Completion> future() {
        return future(ForkJoinPool.commonPool());
    }

    /**
     * A future of its completion, whose stages run on {@code executor}. Cancelling it does not stop
     * the operation. An executor that runs stages on the spot runs them on the one thread that
     * every wait of the process hangs on.
     */
    public CompletableFuture<Completion> future(Executor executor) {
        return result.thenApplyAsync(completion -> completion, executor);
    }

    void complete(Completion completion) {
        result.complete(completion);
    }

    void fail(Exception cause) {
        result.completeExceptionally(
                new FabricException(
                        "The completion of " + operation + " is not heard of", 0, cause));
    }

    void close() {
        result.completeExceptionally(closed());
    }

    private IllegalStateException closed() {
        return new IllegalStateException(
                "%s was closed before %s completed".formatted(target, operation));
    }
}
