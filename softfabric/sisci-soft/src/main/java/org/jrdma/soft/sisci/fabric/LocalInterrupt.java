package org.jrdma.soft.sisci.fabric;

import org.jrdma.abi.sisci.sisci_h;

/**
 * What others can trigger in this process. In C: {@code sci_local_interrupt_t} and {@code
 * sci_local_data_interrupt_t}. Safe for use by several threads.
 */
public final class LocalInterrupt {

    /** A trigger: its data, and whoever wants to know that it was taken. */
    @SuppressWarnings("ArrayRecordComponent") // the same data is meant, not the like
    public record Triggered(byte[] data, Runnable taken) {

        /** One without data, which is like any other. */
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

    /** By which others know it. */
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

    /** So often, or once where it does not count. */
    void trigger(int times) {
        if (counts) {
            triggers.put(Triggered.PLAIN, times);
        } else {
            triggers.putUnlessWaiting(Triggered.PLAIN);
        }
    }

    /** With data, which no one loses: senders are held back by what is not taken. */
    void trigger(Triggered triggered) {
        triggers.put(triggered);
    }

    /** Waits for a trigger, which is one less then. */
    public void await(int milliseconds) {
        var _ = triggers.await(milliseconds, true);
    }

    /**
     * Waits for a trigger's data, which stays where it is if it is too long.
     *
     * @param room how many bytes there are for it
     */
    public byte[] awaitData(int milliseconds, long room) {
        var triggered = triggers.await(milliseconds, false);
        SciException.throwIf(triggered.data().length > room, sisci_h.SCI_ERR_OVERFLOW());
        triggered = triggers.await(milliseconds, true);
        triggered.taken().run();
        return triggered.data();
    }

    /** Ends it. */
    public void remove() {
        synchronized (this) {
            SciException.throwIf(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
            removed = true;
        }
        all.remove(this);
        triggers.close();
        descriptor.remove();
    }
}
