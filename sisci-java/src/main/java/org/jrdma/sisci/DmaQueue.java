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
import org.jrdma.sisci.internal.SisciFunctions;
import org.jrdma.sisci.model.DmaState;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves bytes without the CPU, one transfer at a time.
 *
 * <p>A transfer is started and its end told by a future ({@link #start}), waited for ({@link
 * #transfer}), or posted and polled ({@link #post}, {@link #state}). Owned by its {@link Node};
 * safe for use by several threads. Closing it aborts a transfer under way. In C: {@code
 * sci_dma_queue_t}; {@link #close()} is {@code SCIAbortDMAQueue}, {@code SCIRemoveDMAQueue}.
 */
public final class DmaQueue extends SisciObject {

    private static final Duration LONGEST_STOP = Duration.ofSeconds(5);
    private static final long STOP_PAUSE_NANOS = 50_000;
    private static final Logger LOG = LoggerFactory.getLogger(DmaQueue.class);

    private final State state;

    private DmaQueue(ObjectHandle handle, State state) {
        super(handle);
        this.state = state;
    }

    /**
     * The state that close needs. Separate from the queue, so that a leaked one can be detected.
     */
    private static final class State {

        final RemovalRetry retry;
        final SisciFunctions functions;
        final MemorySegment handle;
        final String name;
        private final AtomicReference<@Nullable Running> running = new AtomicReference<>();

        /** A transfer that is polled. Keeps memory of the caller's reachable. */
        @SuppressWarnings("unused") // but for what it refers to
        private @Nullable DmaTransfer posted;

        State(NodeHandle node, MemorySegment handle, String name) {
            this.retry = new RemovalRetry(node.deferred());
            this.functions = node.functions();
            this.handle = handle;
            this.name = name;
        }

        DmaState now() {
            return functions.dma().state(handle);
        }

        /** Under a lock, so that an abort cannot end another transfer than intended. */
        synchronized Running start(DmaTransfer transfer, Lifetime queue) throws SisciException {
            transfer.checkLibrary(functions, name);
            var next = new Running(transfer, running, by -> abortIfOpen(by, queue));
            var other = running.compareAndExchange(null, next); // its end may come at once
            if (other != null) {
                Callbacks.forget(next.listener);
                throw refusal(other);
            }
            try {
                next.watchSegments();
                transfer.start(functions, handle, next.listener);
            } catch (SisciException | RuntimeException e) {
                next.forget();
                throw e;
            }
            posted = null;
            return next;
        }

        synchronized void post(DmaTransfer transfer) throws SisciException {
            transfer.checkLibrary(functions, name);
            var other = running.get();
            if (other != null) {
                throw refusal(other);
            }
            transfer.start(functions, handle, 0);
            posted = transfer;
        }

        private IllegalStateException refusal(Running other) {
            return new IllegalStateException(
                    "%s is still making a %s".formatted(name, other.transfer));
        }

        /** The library need not call back for a transfer that it has aborted. */
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

        /** Whether the engine has let go of a transfer. */
        synchronized boolean hasEnded(Running transfer) {
            if (running.get() == transfer && now() != DmaState.POSTED) {
                transfer.end(transfer.outcome(now()));
            }
            return running.get() != transfer;
        }

        /** One of its segments is being closed, or its node. */
        private void abortIfOpen(@Nullable Running only, Lifetime queue) {
            try {
                queue.hold();
            } catch (IllegalStateException e) {
                return; // it aborts for itself
            }
            try {
                if (only != null) {
                    abort(only);
                } else if (now() == DmaState.POSTED) {
                    abort();
                }
            } catch (SisciException e) {
                LOG.debug("{} is not aborted: {}", name, e.getMessage());
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

        /** No future is left without its end. */
        private void stop(Deadline deadline) throws SisciException {
            try {
                if (now() == DmaState.POSTED) {
                    abort();
                    RemovalRetry.retry(deadline, this::beUnposted);
                }
            } finally {
                var left = running.get();
                if (left != null) {
                    left.end(left.outcome(now()));
                }
            }
        }

        private void beUnposted() throws SisciException {
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

    /** A transfer whose end will be told. Keeps memory of the caller's reachable. */
    private static final class Running {

        final DmaTransfer transfer;
        final CompletableFuture<Void> future = new CompletableFuture<>();
        final long listener;
        private final AtomicReference<@Nullable Running> place;
        private final Runnable abort;

        /**
         * @param place where this stands as long as it runs
         * @param abort ends it early, for its segments cannot be closed before
         */
        Running(
                DmaTransfer transfer,
                AtomicReference<@Nullable Running> place,
                Consumer<Running> abort) {
            this.transfer = transfer;
            this.place = place;
            this.abort = () -> abort.accept(this);
            this.listener = Callbacks.register(this::ended);
        }

        void watchSegments() {
            transfer.lifetimes().forEach(lifetime -> lifetime.onClose(abort));
        }

        private void ended(Integer status) {
            end(status == 0 ? null : failure(status));
        }

        private SisciException failure(int status) {
            var function = "SCIStartDmaTransfer";
            return new SisciException(
                    function,
                    "%s failed: %s.".formatted(transfer, SisciException.describe(function, status)),
                    status);
        }

        SisciException aborted() {
            return new SisciException("SCIAbortDMAQueue", transfer + " was aborted", 0);
        }

        /** What came of it, where the library has not called back. */
        @Nullable SisciException outcome(DmaState state) {
            return switch (state) {
                case DONE -> null;
                case ERROR -> failure(sisci_h.SCI_ERR_TRANSFER_FAILED());
                case POSTED ->
                        new SisciException(
                                "SCIAbortDMAQueue",
                                "%s was aborted, and is still under way: its memory must stay"
                                        .formatted(transfer),
                                sisci_h.SCI_ERR_BUSY());
                default -> aborted();
            };
        }

        /** What the user hung on the future does not run on the library's thread. */
        void end(@Nullable SisciException failure) {
            forget();
            Thread.startVirtualThread(() -> {
                if (failure == null) {
                    future.complete(null);
                } else {
                    future.completeExceptionally(failure);
                }
            });
        }

        void forget() {
            Callbacks.forget(listener);
            place.compareAndSet(this, null);
            transfer.lifetimes().forEach(lifetime -> lifetime.noLongerOnClose(abort));
        }
    }

    /** Creates a queue. The node must be held. */
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
                            owner.noLongerOnClose(abort.get());
                            state.remove();
                        });
        abort.set(() -> state.abortIfOpen(null, lifetime));
        owner.onClose(abort.get()); // segments are closed before this, where they are newer
        return new DmaQueue(new ObjectHandle(node, handle, lifetime, state.retry), state);
    }

    /**
     * Starts a transfer. The future ends with it, exceptionally with a {@link SisciException} where
     * it fails or is aborted; what hangs on it runs on a virtual thread. To cancel the future stops
     * nothing: {@link #abort()} does.
     *
     * @throws IllegalStateException if another transfer is under way
     */
    public CompletableFuture<Void> start(DmaTransfer transfer) throws SisciException {
        return inCall(() -> state.start(transfer, lifetime())).future.copy();
    }

    /**
     * Makes a transfer, and waits for its end. Where that takes too long, or the thread is
     * interrupted, the transfer is aborted, and the engine has let go of its memory when this
     * throws; only if it has not within five seconds more, which the exception says then, the
     * memory must stay until {@link #state()} is not POSTED.
     *
     * @throws FabricTimeoutException if it did not end in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if another transfer is under way
     */
    public void transfer(DmaTransfer transfer, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        var running = inCall(() -> state.start(transfer, lifetime()));
        try {
            running.future.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SisciException failure) {
                throw failure;
            }
            throw new AssertionError("a transfer ends by a SisciException only", e);
        } catch (TimeoutException e) {
            throw stopBecause(running, deadline.missed("No end of " + transfer));
        } catch (InterruptedException e) {
            var reason = new InterruptedIOException("interrupted while waiting for " + transfer);
            var _ = stopBecause(running, reason);
            Thread.currentThread().interrupt();
            throw reason;
        }
    }

    private <E extends IOException> E stopBecause(Running running, E reason) {
        try {
            whileOpen(() -> state.abort(running));
        } catch (SisciException e) {
            reason.addSuppressed(e);
        } catch (IllegalStateException e) {
            LOG.debug("{} is being closed, which stops {} too", this, running.transfer);
        }
        if (!awaitEnd(running)) {
            reason.addSuppressed(running.outcome(DmaState.POSTED));
        }
        return reason;
    }

    /** An interrupt does not end it, and is kept for whoever comes next. */
    private boolean awaitEnd(Running running) {
        var deadline = Deadline.after(LONGEST_STOP);
        var interrupted = false;
        while (!hasEnded(running) && !deadline.hasPassed()) {
            interrupted |= Thread.interrupted();
            LockSupport.parkNanos(STOP_PAUSE_NANOS);
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
     * Starts a transfer whose end {@link #state()} will show.
     *
     * @throws IllegalStateException if a transfer that was started otherwise is under way
     */
    public void post(DmaTransfer transfer) throws SisciException {
        whileOpen(() -> state.post(transfer));
    }

    /** How far the last transfer is; never waits. In C: {@code SCIDMAQueueState}. */
    public DmaState state() {
        return inCall(state::now);
    }

    /**
     * Ends the transfer under way. The engine may go on for a moment: its memory must stay until
     * the future has ended, or {@link #state()} is not POSTED. In C: {@code SCIAbortDMAQueue}.
     */
    public void abort() throws SisciException {
        whileOpen(state::abort);
    }
}
