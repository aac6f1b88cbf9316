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
import org.jrdma.ffi.linkage.PollingBudget;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.TransferException;
import org.jrdma.verbs.queue.PendingTransfer;

/**
 * One operation that was posted by an asynchronous queue pair or an {@link
 * AsyncSharedReceiveQueue}.
 *
 * <p>Safe for use by multiple threads; thousands of virtual threads can wait at the same time. A
 * timeout or an interrupt does not cancel the operation: the adapter may access its memory until
 * the operation completes. If the queue is closed before the operation completes, waiting threads
 * get an IllegalStateException.
 */
public final class Transfer {

    private static final boolean MAY_SPIN = Runtime.getRuntime().availableProcessors() > 1;

    /** About the time that it takes to park a thread and to wake it up. */
    private static final long SPIN_NANOS = 10_000;

    private final PendingTransfer pending;

    Transfer(PendingTransfer pending) {
        this.pending = pending;
    }

    /**
     * Waits until the operation succeeds.
     *
     * @throws TransferException if the operation fails
     * @throws FabricTimeoutException if the operation does not complete before the timeout
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public Completion await(Duration timeout) throws FabricException, InterruptedIOException {
        var completion = awaitCompletion(timeout);
        if (!completion.isSuccess()) {
            throw new TransferException(pending.operation(), pending.target(), completion);
        }
        return completion;
    }

    /**
     * Waits until the operation completes, whether it succeeds or fails.
     *
     * @throws FabricTimeoutException if the operation does not complete before the timeout
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public Completion awaitCompletion(Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        spin(deadline);
        try {
            return pending.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw deadline.missed(
                    "No completion of %s on %s".formatted(pending.operation(), pending.target()));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof FabricException failure) {
                throw failure;
            }
            throw pending.closedException();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException(
                    "Interrupted while waiting for " + pending.operation());
        }
    }

    /** Polls for a short time, because parking takes longer than an operation on a fast network. */
    private void spin(Deadline deadline) {
        if (!MAY_SPIN || Thread.currentThread().isVirtual()) {
            return; // spinning would delay the threads that complete the operation
        }
        var end = System.nanoTime() + Math.min(SPIN_NANOS, deadline.remainingNanos());
        for (var polls = 0; !pending.isDone() && System.nanoTime() - end < 0; polls++) {
            PollingBudget.pause(polls);
        }
    }

    /** Returns true if the operation has succeeded or failed. */
    public boolean isCompleted() {
        return pending.isDone();
    }

    /**
     * Returns a future of the completion. Its dependent stages run in the common pool. Canceling
     * the future does not cancel the operation.
     */
    public CompletableFuture<Completion> future() {
        return future(ForkJoinPool.commonPool());
    }

    /**
     * Returns a future of the completion. Its dependent stages run in {@code executor}. Canceling
     * the future does not cancel the operation.
     *
     * @param executor an executor that does not run tasks on the submitting thread. An executor
     *     such as {@code Runnable::run} would run the stages on the thread that completes all
     *     transfers of the process, and delay them
     */
    public CompletableFuture<Completion> future(Executor executor) {
        return pending.thenApplyAsync(completion -> completion, executor);
    }
}
