package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.internal.Callbacks;

/**
 * An interrupt of this node, which peers trigger.
 *
 * <p>Owned by its {@link Node}; safe for use by several threads. In C: {@code
 * sci_local_interrupt_t}; {@link #close()} is {@code SCIRemoveInterrupt}.
 */
public final class Interrupt extends SisciObject {

    private final int number;
    private final Events<Integer> events;

    private Interrupt(LocalInterrupt<Integer> made) {
        super(made.created().handle(), made.lifetime(), made.patience());
        this.number = made.created().number();
        this.events = made.events();
    }

    /** The node must be held. */
    static Interrupt create(Node node, InterruptOptions options) throws SisciException {
        return new Interrupt(
                LocalInterrupt.create(
                        node,
                        options,
                        false,
                        Events::new,
                        events -> (Callbacks.StatusListener) events::put));
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
