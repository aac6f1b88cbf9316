package org.jrdma.soft.sisci.fabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.linkage.Downcalls;
import org.jspecify.annotations.Nullable;

/**
 * A place in a segment where stores of others interrupt this process. In C: a {@code
 * sci_local_interrupt_t} too. Safe for use by several threads.
 *
 * <p>A conditional one counts in its place what is stored there, from zero where it is enabled,
 * from {@link #DISABLED} where it is not: whoever adds one and finds no zero does not interrupt.
 */
public final class InterruptFlag {

    private static final VarHandle WORD = JAVA_INT.varHandle();
    private static final int DISABLED = 1 << 30;

    private final CreatedSegment segment;
    private final long offset;
    private final boolean conditional;
    private final MemorySegment memory;
    private final EventQueue<LocalInterrupt.Triggered> triggers;
    private boolean enabled = true;
    private boolean removed;

    private InterruptFlag(
            CreatedSegment segment,
            long offset,
            boolean conditional,
            MemorySegment memory,
            EventQueue<LocalInterrupt.Triggered> triggers) {
        this.segment = segment;
        this.offset = offset;
        this.conditional = conditional;
        this.memory = memory;
        this.triggers = triggers;
    }

    /** Makes one. In C: {@code SCIRegisterInterruptFlag}. */
    public static InterruptFlag register(
            LocalSegment segment,
            int adapter,
            int offset,
            EventQueue.@Nullable Callback<LocalInterrupt.Triggered> callback,
            int flags) {
        Flags.checkAllowed(
                flags, sisci_h.SCI_FLAG_USE_CALLBACK() | sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT());
        if (!(segment instanceof CreatedSegment own)) {
            throw new SciException(
                    sisci_h.SCI_ERR_ILLEGAL_OPERATION()); // only the process that created it
            // receives stores
        }
        own.context().topology().checkAdapter(adapter);
        SciException.throwIf(offset % Integer.BYTES != 0, sisci_h.SCI_ERR_OFFSET_ALIGNMENT());
        var place = Integer.toUnsignedLong(offset);
        SciException.throwIf(place > own.bytes() - Integer.BYTES, sisci_h.SCI_ERR_OUT_OF_RANGE());
        var address = own.hold() + place;
        var flag =
                new InterruptFlag(
                        own,
                        place,
                        Flags.has(flags, sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT()),
                        Downcalls.memoryAt(MemorySegment.ofAddress(address), Integer.BYTES),
                        EventQueue.unbounded(own.context().callbacks(), callback));
        try {
            own.add(flag);
            return flag;
        } catch (RuntimeException e) {
            own.release();
            throw e;
        }
    }

    long offset() {
        return offset;
    }

    /** Somebody has stored there, and found that it is to interrupt. */
    void stored(boolean counted) {
        if (counted == conditional) {
            triggers.put(LocalInterrupt.Triggered.PLAIN, 1);
        }
    }

    /** In C: {@code SCIEnableConditionalInterrupt}. */
    public synchronized void enable() {
        check();
        var before = (int) WORD.getVolatile(memory, 0L);
        SciException.throwIf(
                !WORD.compareAndSet(memory, 0L, before, 0),
                sisci_h.SCI_ERR_COND_INT_RACE_PROBLEM());
        enabled = true;
    }

    /** In C: {@code SCIDisableConditionalInterrupt}. */
    public synchronized void disable() {
        check();
        WORD.setVolatile(memory, 0L, DISABLED);
        enabled = false;
    }

    /** In C: {@code SCIGetConditionalInterruptTrigCounter}. */
    public synchronized int count() {
        check();
        var count = (int) WORD.getVolatile(memory, 0L) - (enabled ? 0 : DISABLED);
        SciException.throwIf(count < 0 || count >= DISABLED, sisci_h.SCI_ERR_OVERFLOW());
        return count;
    }

    private void check() {
        SciException.throwIf(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        SciException.throwIf(!conditional, sisci_h.SCI_ERR_ILLEGAL_OPERATION());
    }

    /** Waits for an interrupt. In C: {@code SCIWaitForInterrupt}. */
    public void await(int milliseconds) {
        var _ = triggers.await(milliseconds, true);
    }

    /** Ends it. In C: {@code SCIRemoveInterrupt}. */
    public void remove() {
        synchronized (this) {
            SciException.throwIf(removed, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
            removed = true;
        }
        segment.remove(this);
        segment.release();
        triggers.close();
    }
}
