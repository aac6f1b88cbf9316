package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

/**
 * An interrupt of this process. In C: {@code sci_local_interrupt_t} and {@code
 * sci_local_data_interrupt_t}. Safe for use by multiple threads.
 */
public final class LocalInterrupt {

    /**
     * A trigger of an interrupt.
     *
     * @param data the data that the trigger carries; empty if it carries none
     * @param taken the action to run when the program takes the trigger
     */
    // An array as a component is acceptable, because triggers are compared by identity only.
    @SuppressWarnings("ArrayRecordComponent")
    public record Trigger(byte[] data, Runnable taken) {

        /** A trigger without data. */
        static final Trigger PLAIN = new Trigger(new byte[0], () -> {});
    }

    private final LocalInterrupts all;
    private final SciDescriptor descriptor;
    private final InterruptKey number;
    private final boolean counts;
    private final EventQueue<Trigger> triggers;
    private boolean removed;

    LocalInterrupt(
            LocalInterrupts all,
            SciDescriptor descriptor,
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

    /**
     * Triggers the interrupt {@code times} times. If the interrupt does not count its triggers, at
     * most one of them stays pending.
     */
    void trigger(int times) {
        if (counts) {
            triggers.put(Trigger.PLAIN, times);
        } else {
            triggers.putUnlessWaiting(Trigger.PLAIN);
        }
    }

    /**
     * Triggers the interrupt with data. The number of pending triggers is limited only by the
     * senders.
     */
    void trigger(Trigger trigger) {
        triggers.put(trigger);
    }

    /** Waits for a trigger and removes it from the pending triggers. */
    public void await(int milliseconds) {
        var _ = triggers.await(milliseconds, true);
    }

    /**
     * Waits for a trigger with data, removes it from the pending triggers and returns the data.
     * Fails and does not remove the trigger if its data is too long.
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
