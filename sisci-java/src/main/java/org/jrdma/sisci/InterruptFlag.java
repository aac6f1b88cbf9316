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
 * A location in a segment of this node at which a store by a peer interrupts this node. The peer
 * needs a dedicated map of the segment: one with {@link MapOptions.Flag#CONDITIONAL_INTERRUPT} for
 * a conditional flag, one with {@link MapOptions.Flag#INTERRUPT} otherwise.
 *
 * <p>A conditional flag is a 4-byte counter. A store of any value increments the counter, and
 * interrupts this node if the counter was zero. The next interrupt occurs only after the flag has
 * been {@linkplain #tryEnable enabled} again. Therefore, a peer that stores repeatedly causes only
 * one interrupt, and {@link #count()} returns the number of stores. If the flag is not conditional,
 * the value is stored in the memory, and each store interrupts this node.
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

    /**
     * Registers a flag in a segment. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold}
     * the lifetime of the segment.
     */
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

    /** Returns the offset of this flag in its segment, in bytes. */
    public long offset() {
        return offset;
    }

    /**
     * Resets the counter, and enables the interrupt that the next store causes. In C: {@code
     * SCIEnableConditionalInterrupt}.
     *
     * @return false if a store arrived at the same time. This store may not have caused an
     *     interrupt: check the data that the flag announces, and call this method again
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
     * Resets the counter and disables the interrupt. Interrupts that occurred before this call may
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
     * Waits until a store to this flag interrupts this node. If an interrupt has occurred since the
     * last wait, this method returns immediately. Each interrupt is delivered to only one caller or
     * listener.
     *
     * @throws FabricTimeoutException if no store interrupted this node in time
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
