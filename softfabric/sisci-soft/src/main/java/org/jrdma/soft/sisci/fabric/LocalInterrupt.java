package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

/**
 * An interrupt of this process. In C: {@code sci_local_interrupt_t} and {@code
 * sci_local_data_interrupt_t}. Safe for use by multiple threads.
 */
public final class LocalInterrupt {

    /** A trigger: its data, and an action to run when the program takes it. */
    @SuppressWarnings("ArrayRecordComponent") // the same data is meant, not the like
    public record Triggered(byte[] data, Runnable taken) {

        /** A trigger without data. */
        static final Triggered PLAIN = new Triggered(new byte[0], () -> {});
    }

    private final LocalInterrupts all;
    private final Descriptor descriptor;
    private final InterruptNumber number;
    private final boolean counts;
    private final EventQueue<Triggered> triggers;
    private boolean removed;

    LocalInterrupt(
            LocalInterrupts all,
            Descriptor descriptor,
            InterruptNumber number,
            boolean counts,
            EventQueue<Triggered> triggers) {
        this.all = all;
        this.descriptor = descriptor;
        this.number = number;
        this.counts = counts;
        this.triggers = triggers;
    }

    /** The number by which processes connect. */
    public int number() {
        return number.number();
    }

    /** Whether triggers carry data. */
    public boolean carriesData() {
        return number.carriesData();
    }

    InterruptNumber identity() {
        return number;
    }

    /** Triggers several times, or once if the interrupt does not count. */
    void trigger(int times) {
        if (counts) {
            triggers.put(Triggered.PLAIN, times);
        } else {
            triggers.putUnlessWaiting(Triggered.PLAIN);
        }
    }

    /**
     * Triggers with data. No trigger is lost, because the sender limits the number of pending
     * triggers.
     */
    void trigger(Triggered triggered) {
        triggers.put(triggered);
    }

    /** Waits for a trigger and takes it. */
    public void await(int milliseconds) {
        var _ = triggers.await(milliseconds, true);
    }

    /**
     * Waits for a trigger's data, and takes it unless it is too long.
     *
     * @param room the number of bytes for the data
     */
    public byte[] awaitData(int milliseconds, long room) {
        var triggered = triggers.await(milliseconds, false);
        throwIf(triggered.data().length > room, SCI_ERR_OVERFLOW());
        triggered = triggers.await(milliseconds, true);
        triggered.taken().run();
        return triggered.data();
    }

    /** Removes the interrupt. */
    public void remove() {
        synchronized (this) {
            throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
            removed = true;
        }
        all.remove(this);
        triggers.close();
        descriptor.remove();
    }
}
