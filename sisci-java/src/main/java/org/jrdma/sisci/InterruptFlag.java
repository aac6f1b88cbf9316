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
 * An offset in a segment of this node at which a peer's store interrupts this node. The peer needs
 * a dedicated map of the segment: one with {@link MapOptions.Flag#CONDITIONAL_INTERRUPT} for a
 * conditional flag, one with {@link MapOptions.Flag#INTERRUPT} otherwise.
 *
 * <p>A conditional flag is a 4-byte counter. A store of any value increments it, and interrupts if
 * it was zero. The next interrupt occurs only after the flag was {@linkplain #tryEnable enabled}
 * again. A peer that stores repeatedly thus interrupts once, and {@link #count()} returns the
 * number of stores. If the flag is not conditional, the memory takes the stored value, and each
 * store interrupts.
 *
 * <p>Interrupt flags date from the first generation of the hardware. Current drivers may reject
 * them, for example with FLAG_NOT_IMPLEMENTED.
 *
 * <p>Owned by its segment; safe for use by multiple threads. In C: the {@code
 * sci_local_interrupt_t} of {@code SCIRegisterInterruptFlag}; {@link #close()} is {@code
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

    /** Returns the offset in the segment. */
    public long offset() {
        return offset;
    }

    /**
     * Resets the counter and enables the interrupt for the next store. In C: {@code
     * SCIEnableConditionalInterrupt}.
     *
     * @return false if a store arrived at the same time, which may not interrupt; in this case,
     *     check the data that the flag signals, and call this method again
     * @throws SisciException if this flag is not conditional
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
     * Resets the counter and disables the interrupt. Interrupts that have already occurred may
     * still be reported. In C: {@code SCIDisableConditionalInterrupt}.
     *
     * @throws SisciException if this flag is not conditional
     */
    public void disable() throws SisciException {
        whileOpen(() -> functions.disableFlag(address(), this));
    }

    /**
     * Returns the number of stores since this flag was last enabled or disabled. In C: {@code
     * SCIGetConditionalInterruptTrigCounter}.
     *
     * @throws SisciException if this flag is not conditional, or with OVERFLOW if the counter
     *     overflowed
     */
    public int count() throws SisciException {
        return inCall(() -> functions.countOfFlag(address(), this));
    }

    /**
     * Waits until a store interrupts. An interrupt since the last wait counts as well. Each
     * interrupt wakes up one caller or goes to one listener.
     *
     * @throws FabricTimeoutException if no store interrupted in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this flag is closed, before or during the wait
     */
    public void await(Duration timeout) throws FabricException, InterruptedIOException {
        var _ = events.take(Deadline.after(timeout), "No trigger of " + this);
    }

    /**
     * Runs a listener for each interrupt until this flag is closed. The calls are made sequentially
     * on a dedicated virtual thread. The listener may close the flag. Exceptions of the listener
     * are logged.
     */
    public void onTrigger(Runnable listener) {
        events.listen(_ -> listener.run());
    }
}
