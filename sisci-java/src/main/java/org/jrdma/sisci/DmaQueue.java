package org.jrdma.sisci;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.Callbacks;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.RemovalRetry;
import org.jrdma.sisci.internal.SisciFunctionGroups;
import org.jrdma.sisci.model.DmaState;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue that transfers data by DMA, without the CPU. It executes one transfer at a time.
 *
 * <p>There are three ways to run a transfer. {@link #start} returns a future. {@link #transfer}
 * waits until the transfer has ended. After {@link #post}, the caller polls {@link #state}.
 *
 * <p>Owned by its {@link Node}; safe for use by multiple threads. Closing a queue aborts its
 * transfer. In C: {@code sci_dma_queue_t}; {@link #close()} is {@code SCIAbortDMAQueue} and {@code
 * SCIRemoveDMAQueue}.
 */
public final class DmaQueue extends SisciObject {

    private static final Duration ABORT_TIMEOUT = Duration.ofSeconds(5);
    private static final long ABORT_POLL_NANOS = 50_000;
    private static final Logger LOG = LoggerFactory.getLogger(DmaQueue.class);

    private final State state;

    private DmaQueue(ObjectHandle handle, State state) {
        super(handle);
        this.state = state;
    }

    /**
     * The part of the queue's state that the destructor uses. It does not refer to the queue
     * itself, so that a leaked queue can be detected.
     */
    private static final class State {

        final RemovalRetry retry;
        final SisciFunctionGroups functions;
        final MemorySegment handle;
        final String name;
        private final AtomicReference<@Nullable Running> running = new AtomicReference<>();

        /**
         * The transfer of the last {@link #post}. This reference keeps the memory of the transfer
         * reachable.
         */
        @SuppressWarnings("unused") // Read by no method: the field only keeps the memory reachable.
        private @Nullable DmaTransferRequest posted;

        State(NodeHandle node, MemorySegment handle, String name) {
            this.retry = new RemovalRetry(node.deferred());
            this.functions = node.functions();
            this.handle = handle;
            this.name = name;
        }

        DmaState now() {
            return functions.dma().state(handle);
        }

        /**
         * Starts a transfer. This method and the methods that abort are synchronized, so that the
         * abort of one transfer cannot affect the next.
         */
        synchronized Running start(DmaTransferRequest transfer, Lifetime queue)
                throws SisciException {
            transfer.checkLibrary(functions, name);
            var next = new Running(transfer, running, by -> abortIfOpen(by, queue));
            // The field is set before the transfer is started, because the transfer may end
            // immediately.
            var other = running.compareAndExchange(null, next);
            if (other != null) {
                Callbacks.forget(next.listener);
                throw alreadyRunning(other);
            }
            try {
                next.watchSegments();
                transfer.start(functions, handle, next.listener);
            } catch (Throwable e) {
                next.forget();
                throw e;
            }
            posted = null;
            return next;
        }

        synchronized void post(DmaTransferRequest transfer) throws SisciException {
            transfer.checkLibrary(functions, name);
            var other = running.get();
            if (other != null) {
                throw alreadyRunning(other);
            }
            transfer.start(functions, handle, 0);
            posted = transfer;
        }

        private IllegalStateException alreadyRunning(Running other) {
            return new IllegalStateException(
                    "Cannot start a transfer on %s: it is still executing a %s"
                            .formatted(name, other.transfer));
        }

        /**
         * Aborts the transfer. If it has then ended, completes its future, because the library may
         * not call the callback of an aborted transfer.
         */
        synchronized void abort() throws SisciException {
            functions.dma().abortQueue(handle, name);
            endIf(DmaState.ABORTED);
        }

        private void endIf(DmaState state) {
            var aborted = running.get();
            if (aborted != null && now() == state) {
                aborted.end(aborted.aborted());
            }
        }

        synchronized void abort(Running only) throws SisciException {
            if (running.get() == only) {
                abort();
            }
        }

        /**
         * Returns true if a transfer has ended, so that the engine no longer accesses its memory.
         * In this case, completes the future of the transfer if the callback has not completed it.
         */
        synchronized boolean hasEnded(Running transfer) {
            if (running.get() == transfer && now() != DmaState.POSTED) {
                transfer.end(transfer.outcome(now()));
            }
            return running.get() != transfer;
        }

        /**
         * Aborts a transfer because one of its segments or its node is being closed.
         *
         * @param only the transfer to abort; null to abort any transfer that is running
         */
        private void abortIfOpen(@Nullable Running only, Lifetime queue) {
            try {
                queue.hold();
            } catch (IllegalStateException e) {
                return; // The queue is being closed, which aborts the transfer.
            }
            try {
                if (only != null) {
                    abort(only);
                } else if (now() == DmaState.POSTED) {
                    abort();
                }
            } catch (SisciException e) {
                LOG.debug("Cannot abort the transfer of {}: {}", name, e.getMessage());
            } finally {
                queue.release();
            }
        }

        void remove() throws SisciException {
            var deadline = retry.start();
            try {
                stop(deadline);
            } finally {
                retry.remove(deadline, this::removeQueue, this::removeQueue);
                posted = null;
            }
        }

        /** Aborts the transfer, and completes its future even if the abort fails. */
        private void stop(Deadline deadline) throws SisciException {
            try {
                if (now() == DmaState.POSTED) {
                    abort();
                    RemovalRetry.retry(deadline, this::checkNotPosted);
                }
            } finally {
                var left = running.get();
                if (left != null) {
                    left.end(left.outcome(now()));
                }
            }
        }

        private void checkNotPosted() throws SisciException {
            if (now() == DmaState.POSTED) {
                throw functions
                        .library()
                        .failure("SCIAbortDMAQueue", name, sisci_h.SCI_ERR_BUSY(), 0);
            }
        }

        private void removeQueue() throws SisciException {
            functions.dma().removeQueue(handle, name);
        }
    }

    /**
     * A running transfer and its future. This object keeps the memory of the transfer reachable.
     */
    private static final class Running {

        final DmaTransferRequest transfer;
        final CompletableFuture<Void> future = new CompletableFuture<>();
        final long listener;
        private final AtomicReference<@Nullable Running> current;
        private final Runnable abort;

        /**
         * Registers the callback that the library calls when the transfer has ended.
         *
         * @param current the field of the queue with its running transfer. This object sets the
         *     field to null when the transfer has ended
         * @param abort the action that aborts the transfer, which runs when one of its segments is
         *     closed
         */
        Running(
                DmaTransferRequest transfer,
                AtomicReference<@Nullable Running> current,
                Consumer<Running> abort) {
            this.transfer = transfer;
            this.current = current;
            this.abort = () -> abort.accept(this);
            this.listener = Callbacks.register(this::ended);
        }

        void watchSegments() {
            transfer.lifetimes().forEach(lifetime -> lifetime.onClose(abort));
        }

        private void ended(Integer status) {
            try {
                end(status == 0 ? null : failure(status));
            } catch (OutOfMemoryError e) {
                // The future must complete in any case: otherwise, a waiting thread would hang.
                future.completeExceptionally(e);
                throw e;
            }
        }

        private SisciException failure(int status) {
            var function = "SCIStartDmaTransfer";
            return new SisciException(
                    function,
                    "The %s failed: %s"
                            .formatted(transfer, SisciException.describe(function, status)),
                    status);
        }

        SisciException aborted() {
            return new SisciException(
                    "SCIAbortDMAQueue", "The %s was aborted".formatted(transfer), 0);
        }

        /**
         * Determines from the state of the queue why a transfer failed whose callback was not
         * called. Returns null if the transfer succeeded.
         */
        @Nullable SisciException outcome(DmaState state) {
            return switch (state) {
                case DONE -> null;
                case ERROR -> failure(sisci_h.SCI_ERR_TRANSFER_FAILED());
                case POSTED ->
                        new SisciException(
                                "SCIAbortDMAQueue",
                                "The %s was aborted but is still running. Keep its memory allocated until DmaQueue.state() is not POSTED."
                                        .formatted(transfer),
                                sisci_h.SCI_ERR_BUSY());
                default -> aborted();
            };
        }

        /**
         * Completes the future on a virtual thread, because actions of the caller that depend on it
         * must not run on the library's thread.
         */
        void end(@Nullable SisciException failure) {
            forget();
            try {
                Thread.startVirtualThread(() -> complete(failure));
            } catch (OutOfMemoryError e) {
                complete(failure); // A waiting thread must be notified that the transfer has ended.
            }
        }

        private void complete(@Nullable SisciException failure) {
            if (failure == null) {
                future.complete(null);
            } else {
                future.completeExceptionally(failure);
            }
        }

        void forget() {
            Callbacks.forget(listener);
            current.compareAndSet(this, null);
            transfer.lifetimes().forEach(lifetime -> lifetime.removeOnClose(abort));
        }
    }

    /**
     * Creates a queue. The caller must {@linkplain Lifetime#hold hold} the lifetime of the node.
     */
    static DmaQueue create(NodeHandle node, int maxEntries) throws SisciException {
        var name = "DMA queue of %d entries of %s".formatted(maxEntries, node);
        var handle =
                node.functions()
                        .dma()
                        .createQueue(node.address(), node.adapter(), maxEntries, name);
        var state = new State(node, handle, name);
        var owner = node.lifetime();
        var abort = new AtomicReference<Runnable>();
        var lifetime =
                new Lifetime(
                        name,
                        List.of(owner),
                        () -> {
                            owner.removeOnClose(abort.get());
                            state.remove();
                        });
        abort.set(() -> state.abortIfOpen(null, lifetime));
        // If the node is closed, it closes the segments that are newer than this queue before the
        // queue. They cannot be removed while a transfer uses them, so the transfer is aborted
        // first.
        owner.onClose(abort.get());
        return new DmaQueue(new ObjectHandle(node, handle, lifetime, state.retry), state);
    }

    /**
     * Starts a transfer and returns a future that completes when the transfer ends. If the transfer
     * fails or is aborted, the future completes exceptionally with a {@link SisciException}.
     * Dependent actions of the future run on a virtual thread. Canceling the future does not stop
     * the transfer: call {@link #abort()}.
     *
     * @throws IllegalStateException if another transfer is running
     */
    public CompletableFuture<Void> start(DmaTransferRequest transfer) throws SisciException {
        return inCall(() -> state.start(transfer, lifetime())).future.copy();
    }

    /**
     * Starts a transfer and waits for its end.
     *
     * <p>If the timeout expires or the thread is interrupted, this method aborts the transfer, and
     * waits until the engine no longer accesses the memory of the transfer. If the engine still
     * runs five seconds after the abort, the thrown exception has a suppressed exception that
     * reports this. In this case, the memory must stay allocated until {@link #state()} is not
     * POSTED.
     *
     * @throws FabricTimeoutException if the transfer did not end in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if another transfer is running
     */
    public void transfer(DmaTransferRequest transfer, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        var running = inCall(() -> state.start(transfer, lifetime()));
        try {
            running.future.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SisciException failure) {
                throw failure;
            }
            throw new AssertionError(
                    "A transfer failed with an exception other than SisciException", e);
        } catch (TimeoutException e) {
            throw abortBecause(running, deadline.missed("The %s did not end".formatted(transfer)));
        } catch (InterruptedException e) {
            var reason =
                    new InterruptedIOException("Interrupted while waiting for the " + transfer);
            var _ = abortBecause(running, reason);
            Thread.currentThread().interrupt();
            throw reason;
        }
    }

    private <E extends IOException> E abortBecause(Running running, E reason) {
        try {
            whileOpen(() -> state.abort(running));
        } catch (SisciException e) {
            reason.addSuppressed(e);
        } catch (IllegalStateException e) {
            LOG.debug("The close of {} aborts the {}", this, running.transfer);
        }
        if (!awaitEnd(running)) {
            reason.addSuppressed(running.outcome(DmaState.POSTED));
        }
        return reason;
    }

    /**
     * Waits up to five seconds until the aborted transfer ends, and returns true if it has ended.
     * An interrupt does not end the wait, and the interrupt status is restored afterwards.
     */
    private boolean awaitEnd(Running running) {
        var deadline = Deadline.after(ABORT_TIMEOUT);
        var interrupted = false;
        while (!hasEnded(running) && !deadline.hasPassed()) {
            interrupted |= Thread.interrupted();
            LockSupport.parkNanos(ABORT_POLL_NANOS);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return hasEnded(running);
    }

    private boolean hasEnded(Running running) {
        try {
            return inCall(() -> state.hasEnded(running));
        } catch (IllegalStateException e) {
            return running.future.isDone();
        }
    }

    /**
     * Starts a transfer whose progress the caller polls with {@link #state()}.
     *
     * @throws IllegalStateException if a transfer of {@link #start} or {@link #transfer} is running
     */
    public void post(DmaTransferRequest transfer) throws SisciException {
        whileOpen(() -> state.post(transfer));
    }

    /** Returns the state of the last transfer, without blocking. In C: {@code SCIDMAQueueState}. */
    public DmaState state() {
        return inCall(state::now);
    }

    /**
     * Aborts the running transfer. The engine may continue for a short time: the memory of the
     * transfer must stay allocated until the future of the transfer has completed or {@link
     * #state()} is not POSTED. In C: {@code SCIAbortDMAQueue}.
     */
    public void abort() throws SisciException {
        whileOpen(state::abort);
    }
}
