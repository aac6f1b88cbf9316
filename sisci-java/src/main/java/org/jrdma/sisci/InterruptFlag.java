package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.internal.Callbacks;
import org.jrdma.sisci.internal.EventQueue;
import org.jrdma.sisci.internal.InterruptFunctions;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;

/**
 * A place in a segment of this node where a peer's store interrupts this node. The peer stores
 * through a map of its own for that: {@link MapOptions.Flag#INTERRUPT} or {@link
 * MapOptions.Flag#CONDITIONAL_INTERRUPT}, as the flag was made.
 *
 * <p>A conditional one counts. A store, of whatever value, adds one to the 4 bytes at the place,
 * and interrupts if they were zero; the next interrupt comes when the flag has been {@linkplain
 * #tryEnable enabled} again. So a peer that stores often interrupts once, and this side learns how
 * often it was. One that is not conditional takes what is stored, and each store interrupts.
 *
 * <p>From hardware of the first generation; a driver of today may refuse it with
 * FLAG_NOT_IMPLEMENTED or the like. Owned by its segment; safe for use by several threads. In C:
 * the {@code sci_local_interrupt_t} of {@code SCIRegisterInterruptFlag}; {@link #close()} is {@code
 * SCIRemoveInterrupt}.
 */
public final class InterruptFlag extends SisciObject {

    private final long offset;
    private final InterruptFunctions functions;
    private final EventQueue<Integer> events;

    private InterruptFlag(ObjectHandle handle, long offset, EventQueue<Integer> events) {
        super(handle);
        this.offset = offset;
        this.functions = handle.node().functions().interrupts();
        this.events = events;
    }

    /** Registers a flag in a segment, which must be held. */
    static InterruptFlag register(ObjectHandle segment, long offset, boolean conditional)
            throws SisciException {
        var node = segment.node();
        var functions = node.functions().interrupts();
        var name = "interrupt flag at %d of %s".formatted(offset, segment.lifetime());
        var events = new EventQueue<Integer>(name);
        return Callbacks.create(
                events::put,
                key -> {
                    var handle =
                            functions.registerFlag(
                                    node.adapter(),
                                    segment.address(),
                                    Math.toIntExact(offset),
                                    conditional,
                                    key,
                                    name);
                    return new InterruptFlag(
                            node.own(
                                    name,
                                    handle,
                                    segment.lifetime(),
                                    key,
                                    events,
                                    () -> functions.remove(false, handle, name)),
                            offset,
                            events);
                });
    }

    /** Where it is in its segment. */
    public long offset() {
        return offset;
    }

    /**
     * Sees to it that the next store interrupts, and counts from zero again. False if one came at
     * that very moment, which may not interrupt: then look at whatever the flag is about, and try
     * again. In C: {@code SCIEnableConditionalInterrupt}.
     *
     * @throws SisciException if it is not conditional
     */
    public boolean tryEnable() throws SisciException {
        try {
            whileOpen(() -> functions.enableFlag(address(), this));
            return true;
        } catch (SisciException e) {
            if (e.error() == SisciError.CONDITIONAL_INTERRUPT_RACE) {
                return false;
            }
            throw e;
        }
    }

    /**
     * Sees to it that no store interrupts, and counts from zero again; what has come already may
     * still be told. In C: {@code SCIDisableConditionalInterrupt}.
     *
     * @throws SisciException if it is not conditional
     */
    public void disable() throws SisciException {
        whileOpen(() -> functions.disableFlag(address(), this));
    }

    /**
     * How many stores there were since it was last enabled or disabled. In C: {@code
     * SCIGetConditionalInterruptTrigCounter}.
     *
     * @throws SisciException if it is not conditional, or with OVERFLOW if there were too many
     */
    public int count() throws SisciException {
        return inCall(() -> functions.countOfFlag(address(), this));
    }

    /**
     * Waits until a store interrupts, or has since the last wait. Each interrupt wakes one caller,
     * or goes to one listener.
     *
     * @throws FabricTimeoutException if none did in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if it is closed, before or meanwhile
     */
    public void await(Duration timeout) throws FabricException, InterruptedIOException {
        var _ = events.take(Deadline.after(timeout), "Nobody triggered " + this);
    }

    /**
     * Runs {@code listener} for each interrupt from now until the flag is closed, one after the
     * other, on a virtual thread of its own. It may close the flag. What it throws is logged.
     */
    public void onTrigger(Runnable listener) {
        events.listen(_ -> listener.run());
    }
}
