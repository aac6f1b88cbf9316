package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.internal.EventQueue;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * An interrupt of this node that peers can trigger.
 *
 * <p>Owned by its {@link Node}; safe for use by multiple threads. In C: {@code
 * sci_local_interrupt_t}; {@link #close()} is {@code SCIRemoveInterrupt}. The close of an interrupt
 * that was created with {@link InterruptOptions#asAwaited} waits for up to 100 ms if another thread
 * is in {@link #await}.
 */
public final class LocalInterrupt extends SisciObject {

    /**
     * The maximum duration of one wait in the library, which neither a close nor an interrupt of
     * the thread can end.
     */
    private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final int number;

    /** The triggers; null if threads wait for them in the library. */
    private final @Nullable EventQueue<Integer> events;

    private LocalInterrupt(CreatedInterruptHandle created, @Nullable EventQueue<Integer> events) {
        super(created.handle());
        this.number = created.number();
        this.events = events;
    }

    /**
     * Creates an interrupt. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold} the
     * lifetime of the node.
     */
    static LocalInterrupt create(NodeHandle node, InterruptOptions options) throws SisciException {
        if (options.awaited()) {
            var created = CreatedInterruptHandle.<Integer>create(node, options, false, null, null);
            return new LocalInterrupt(created, null);
        }
        var events = new EventQueue<Integer>("interrupt of " + node);
        return new LocalInterrupt(
                CreatedInterruptHandle.create(node, options, false, events, events::put), events);
    }

    /** Returns the number by which peers connect to this interrupt. */
    public int number() {
        return number;
    }

    /**
     * Waits until a peer triggers this interrupt. If a peer has triggered it since the last wait,
     * this method returns immediately. Each trigger is delivered to only one caller or listener.
     *
     * <p>If this interrupt was created with {@link InterruptOptions#asAwaited}, a platform thread
     * waits in the library, and notices an interrupt of the thread or a close within 100 ms. In C:
     * {@code SCIWaitForInterrupt}.
     *
     * @throws FabricTimeoutException if no peer triggered this interrupt in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this interrupt is closed, before or during the wait
     */
    public void await(Duration timeout) throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        if (events == null) {
            awaitInLibrary(deadline);
        } else {
            var _ = events.take(deadline, noTrigger());
        }
    }

    private String noTrigger() {
        return "No trigger of " + this;
    }

    private void awaitInLibrary(Deadline deadline) throws FabricException, InterruptedIOException {
        while (true) {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("Interrupted while waiting for " + this);
            }
            var remaining = deadline.remainingNanos();
            var wait = Math.clamp(remaining, 0, MAX_WAIT_NANOS);
            var milliseconds = (int) Math.ceilDiv(wait, TimeUnit.MILLISECONDS.toNanos(1));
            if (inCall(() -> functions().interrupts().await(address(), milliseconds, this))) {
                return;
            }
            if (remaining <= 0) {
                throw deadline.missed(noTrigger());
            }
        }
    }

    /**
     * Runs a listener for each trigger until this interrupt is closed. The calls are made
     * sequentially on a dedicated virtual thread. The listener may close the interrupt. Exceptions
     * of the listener are logged.
     *
     * @throws IllegalStateException if this interrupt was created with {@link
     *     InterruptOptions#asAwaited}
     */
    public void onTrigger(Runnable listener) {
        if (events == null) {
            throw new IllegalStateException(
                    "Cannot register a listener for %s: it was created with asAwaited(). Use await()."
                            .formatted(this));
        }
        events.listen(_ -> listener.run());
    }
}
