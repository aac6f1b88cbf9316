package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

/**
 * An interrupt of this process. In C: {@code sci_local_interrupt_t} and {@code
 * sci_local_data_interrupt_t}. Safe for use by multiple threads.
 */
public final class LocalInterrupt {

    /**
     * A trigger.
     *
     * @param data the data
     * @param taken the action to run when the program takes the trigger
     */
    @SuppressWarnings("ArrayRecordComponent") // compared by identity
    public record Trigger(byte[] data, Runnable taken) {

        /** A trigger without data. */
        static final Trigger PLAIN = new Trigger(new byte[0], () -> {});
    }

    private final LocalInterrupts all;
    private final Descriptor descriptor;
    private final InterruptKey number;
    private final boolean counts;
    private final EventQueue<Trigger> triggers;
    private boolean removed;

    LocalInterrupt(
            LocalInterrupts all,
            Descriptor descriptor,
            InterruptKey number,
            boolean counts,
            EventQueue<Trigger> triggers) {
        this.all = all;
        this.descriptor = descriptor;
        this.number = number;
        this.counts = counts;
        this.triggers = triggers;
    }

    public int number() {
        return number.number();
    }

    public boolean carriesData() {
        return number.carriesData();
    }

    InterruptKey identity() {
        return number;
    }

    /** Triggers several times, or once if the interrupt does not count. */
    void trigger(int times) {
        if (counts) {
            triggers.put(Trigger.PLAIN, times);
        } else {
            triggers.putUnlessWaiting(Trigger.PLAIN);
        }
    }

    /** Triggers with data. No trigger is lost, because senders limit the pending triggers. */
    void trigger(Trigger trigger) {
        triggers.put(trigger);
    }

    /** Waits for a trigger and takes it. */
    public void await(int milliseconds) {
        var _ = triggers.await(milliseconds, true);
    }

    /**
     * Waits for a trigger's data, and takes it unless it is too long.
     *
     * @param capacity the maximum number of bytes of data
     */
    public byte[] awaitData(int milliseconds, long capacity) {
        var trigger = triggers.await(milliseconds, false);
        throwIf(trigger.data().length > capacity, SCI_ERR_OVERFLOW());
        trigger = triggers.await(milliseconds, true);
        trigger.taken().run();
        return trigger.data();
    }

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
