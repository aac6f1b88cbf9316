package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.Optional;
import org.jrdma.soft.sisci.control.Connection;
import org.jspecify.annotations.Nullable;

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
    private final TypedInterruptNumber number;
    private final boolean counts;
    private final EventQueue<Trigger> triggers;

    /** Used instead of {@code triggers} if not null. */
    private final @Nullable InterruptTriggerWaiter directTriggers;

    private boolean removed;

    LocalInterrupt(
            LocalInterrupts all,
            SciDescriptor descriptor,
            TypedInterruptNumber number,
            boolean counts,
            EventQueue<Trigger> triggers,
            @Nullable InterruptTriggerWaiter directTriggers) {
        this.all = all;
        this.descriptor = descriptor;
        this.number = number;
        this.counts = counts;
        this.triggers = triggers;
        this.directTriggers = directTriggers;
    }

    public int number() {
        return number.number();
    }

    public boolean carriesData() {
        return number.carriesData();
    }

    TypedInterruptNumber identity() {
        return number;
    }

    /**
     * Triggers the interrupt {@code times} times. If the interrupt does not count its triggers, at
     * most one of them stays pending.
     */
    void trigger(int times) {
        if (directTriggers != null) {
            directTriggers.trigger();
        } else if (counts) {
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

    /**
     * Creates a socket by which a process can trigger this interrupt. Returns empty if the process
     * must send messages.
     */
    Optional<InterruptTriggerWaiter.PeerSocket> openSocket(Connection peer) {
        return directTriggers == null ? Optional.empty() : directTriggers.open(peer);
    }

    void closeSocket(long key) {
        if (directTriggers != null) {
            directTriggers.remove(key);
        }
    }

    /** Waits for a trigger and removes it from the pending triggers. */
    public void await(int milliseconds) {
        if (directTriggers != null) {
            directTriggers.await(milliseconds);
        } else {
            var _ = triggers.await(milliseconds);
        }
    }

    /**
     * Waits for a trigger with data, removes it from the pending triggers and returns the data.
     * Fails and does not remove the trigger if its data is too long.
     *
     * @param capacity the maximum number of bytes of data
     */
    public byte[] awaitData(int milliseconds, long capacity) {
        var trigger =
                triggers.await(
                        milliseconds,
                        next -> throwIf(next.data().length > capacity, SCI_ERR_OVERFLOW()));
        trigger.taken().run();
        return trigger.data();
    }

    public void remove() {
        synchronized (this) {
            throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
            removed = true;
        }
        all.remove(this);
        endWaits();
        descriptor.remove();
    }

    /** Ends all waits. The interrupt cannot be triggered any more. */
    void endWaits() {
        triggers.close();
        if (directTriggers != null) {
            directTriggers.close();
        }
    }
}
