package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.internal.EventQueue;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.model.SisciException;

/**
 * An interrupt of this node that peers can trigger.
 *
 * <p>Owned by its {@link Node}; safe for use by multiple threads. In C: {@code
 * sci_local_interrupt_t}; {@link #close()} is {@code SCIRemoveInterrupt}.
 */
public final class LocalInterrupt extends SisciObject {

    private final int number;
    private final EventQueue<Integer> events;

    private LocalInterrupt(InterruptHandle created, EventQueue<Integer> events) {
        super(created.handle());
        this.number = created.number();
        this.events = events;
    }

    /**
     * Creates an interrupt. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold} the
     * lifetime of the node.
     */
    static LocalInterrupt create(NodeHandle node, InterruptOptions options) throws SisciException {
        var events = new EventQueue<Integer>("interrupt of " + node);
        return new LocalInterrupt(
                InterruptHandle.create(node, options, false, events, events::put), events);
    }

    /** Returns the number by which peers connect to this interrupt. */
    public int number() {
        return number;
    }

    /**
     * Waits until a peer triggers this interrupt. If a peer has triggered it since the last wait,
     * this method returns immediately. Each trigger is delivered to only one caller or listener.
     *
     * @throws FabricTimeoutException if no peer triggered this interrupt in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this interrupt is closed, before or during the wait
     */
    public void await(Duration timeout) throws FabricException, InterruptedIOException {
        var _ = events.take(Deadline.after(timeout), "No trigger of " + this);
    }

    /**
     * Runs a listener for each trigger until this interrupt is closed. The calls are made
     * sequentially on a dedicated virtual thread. The listener may close the interrupt. Exceptions
     * of the listener are logged.
     */
    public void onTrigger(Runnable listener) {
        events.listen(_ -> listener.run());
    }
}
