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
 * An interrupt of this node, which peers trigger.
 *
 * <p>Owned by its {@link Node}; safe for use by several threads. In C: {@code
 * sci_local_interrupt_t}; {@link #close()} is {@code SCIRemoveInterrupt}.
 */
public final class Interrupt extends SisciObject {

    private final int number;
    private final EventQueue<Integer> events;

    private Interrupt(LocalInterrupt created, EventQueue<Integer> events) {
        super(created.handle());
        this.number = created.number();
        this.events = events;
    }

    /** Creates an interrupt. The node must be held. */
    static Interrupt create(NodeHandle node, InterruptOptions options) throws SisciException {
        var events = new EventQueue<Integer>("interrupt of " + node);
        return new Interrupt(
                LocalInterrupt.create(node, options, false, events, events::put), events);
    }

    /** The number by which peers connect to it. */
    public int number() {
        return number;
    }

    /**
     * Waits until a peer triggers it, or has since the last wait. Each trigger wakes one caller, or
     * goes to one listener.
     *
     * @throws FabricTimeoutException if nobody did in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if it is closed, before or meanwhile
     */
    public void await(Duration timeout) throws FabricException, InterruptedIOException {
        var _ = events.take(Deadline.after(timeout), "Nobody triggered " + this);
    }

    /**
     * Runs {@code listener} for each trigger from now until the interrupt is closed, one after the
     * other, on a virtual thread of its own. It may close the interrupt. What it throws is logged.
     */
    public void onTrigger(Runnable listener) {
        events.listen(_ -> listener.run());
    }
}
