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
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.Callbacks;
import org.jrdma.sisci.internal.SisciFunctions;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes without the CPU, one transfer at a time.
 *
 * <p>A transfer is started and its end told by a future ({@link #start}), waited for ({@link
 * #transfer}), or posted and polled ({@link #post}, {@link #state}). Owned by its {@link Node};
 * safe for use by several threads. Closing it aborts a transfer under way. In C: {@code
 * sci_dma_queue_t}; {@link #close()} is {@code SCIAbortDMAQueue}, {@code SCIRemoveDMAQueue}.
 */
public final class DmaQueue extends SisciObject {

    private final State state;

    private DmaQueue(MemorySegment handle, Lifetime lifetime, State state) {
        super(handle, lifetime, state.patience);
        this.state = state;
    }

    /** What closing it needs. Apart from it, so that a forgotten one is found. */
    private static final class State {

        final Patience patience = new Patience();
        final SisciFunctions functions;
        final MemorySegment handle;
        final String name;
        private final AtomicReference<@Nullable Running> running = new AtomicReference<>();

        State(SisciFunctions functions, MemorySegment handle, String name) {
            this.functions = functions;
            this.handle = handle;
            this.name = name;
        }

        DmaState now() {
            return DmaState.of(functions.dma().state(handle));
        }

        Running start(DmaTransfer transfer) throws SisciException {
            var next = new Running(transfer, running);
            var other = running.compareAndExchange(null, next); // its end may come at once
            if (other != null) {
                Callbacks.forget(next.listener);
                throw refusal(other);
            }
            try {
                transfer.start(functions, handle, next.listener);
            } catch (SisciException | RuntimeException e) {
                next.forget();
                throw e;
            }
            return next;
        }

        void post(DmaTransfer transfer) throws SisciException {
            var other = running.get();
            if (other != null) {
                throw refusal(other);
            }
            transfer.start(functions, handle, 0);
        }

        private IllegalStateException refusal(Running other) {
            return new IllegalStateException(
                    "%s is still making a %s".formatted(name, other.transfer));
        }

        /** The library need not call back for a transfer that it has aborted. */
        void abort() throws SisciException {
            functions.dma().abortQueue(handle, () -> "for " + name);
            var aborted = running.get();
            if (aborted != null && now() == DmaState.ABORTED) {
                aborted.end(
                        new SisciException(
                                "SCIAbortDMAQueue", aborted.transfer + " was aborted", 0));
            }
        }

        void remove() throws SisciException {
            if (now() == DmaState.POSTED) {
                abort();
                patience.undo(this::beUnposted);
            }
            patience.undo(() -> functions.dma().removeQueue(handle, () -> "for " + name));
        }

        private void beUnposted() throws SisciException {
            if (now() == DmaState.POSTED) {
                throw functions
                        .library()
                        .failure("SCIAbortDMAQueue", "for " + name, sisci_h.SCI_ERR_BUSY(), 0);
            }
        }
    }

    /** A transfer whose end will be told. Keeps memory of the caller's reachable. */
    private static final class Running {

        final DmaTransfer transfer;
        final CompletableFuture<Void> future = new CompletableFuture<>();
        final long listener;
        private final AtomicReference<@Nullable Running> place;

        /**
         * @param place where this stands as long as it runs
         */
        Running(DmaTransfer transfer, AtomicReference<@Nullable Running> place) {
            this.transfer = transfer;
            this.place = place;
            this.listener = Callbacks.register((Callbacks.StatusListener) this::ended);
        }

        private void ended(int status) {
            end(status == 0 ? null : failure(status));
        }

        private SisciException failure(int status) {
            var function = "SCIStartDmaTransfer";
            return new SisciException(
                    function,
                    "%s failed: %s.".formatted(transfer, SisciException.describe(function, status)),
                    status);
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
        }
    }

    /** The node must be held. */
    static DmaQueue create(Node node, int maxEntries) throws SisciException {
        var name = "DMA queue of %d entries of %s".formatted(maxEntries, node);
        var handle =
                node.functions()
                        .dma()
                        .createQueue(
                                node.address(),
                                node.adapterNumber(),
                                maxEntries,
                                () -> "for " + name);
        var state = new State(node.functions(), handle, name);
        return new DmaQueue(
                handle, new Lifetime(name, List.of(node.ownLifetime()), state::remove), state);
    }

    /**
     * Starts a transfer. The future ends with it, exceptionally with a {@link SisciException} where
     * it fails or is aborted; what hangs on it runs on a virtual thread. To cancel the future stops
     * nothing: {@link #abort()} does.
     *
     * @throws IllegalStateException if another transfer is under way
     */
    public CompletableFuture<Void> start(DmaTransfer transfer) throws SisciException {
        return inCall(() -> state.start(transfer)).future.copy();
    }

    /**
     * Makes a transfer, and waits for its end. Where that takes too long, or the thread is
     * interrupted, the transfer is aborted.
     *
     * @throws FabricTimeoutException if it did not end in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if another transfer is under way
     */
    public void transfer(DmaTransfer transfer, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        var future = start(transfer);
        try {
            future.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SisciException failure) {
                throw failure;
            }
            throw new AssertionError("a transfer ends by a SisciException only", e);
        } catch (TimeoutException e) {
            throw abortBecause(deadline.missed("No end of " + transfer));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw abortBecause(
                    new InterruptedIOException("interrupted while waiting for " + transfer));
        }
    }

    private <E extends IOException> E abortBecause(E reason) {
        try {
            abort();
        } catch (SisciException e) {
            reason.addSuppressed(e); // as where it has ended meanwhile
        }
        return reason;
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

    /** Ends the transfer under way. In C: {@code SCIAbortDMAQueue}. */
    public void abort() throws SisciException {
        whileOpen(state::abort);
    }
}
