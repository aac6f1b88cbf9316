package org.jrdma.soft.sisci.fabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jrdma.ffi.linkage.Downcalls;
import org.jspecify.annotations.Nullable;

/**
 * A word of a segment whose stores by other processes interrupt this process. In C: a {@code
 * sci_local_interrupt_t} too. Safe for use by multiple threads.
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

    /** Registers a flag. In C: {@code SCIRegisterInterruptFlag}. */
    public static InterruptFlag register(
            LocalSegment segment,
            int adapter,
            int offset,
            EventQueue.@Nullable Callback<LocalInterrupt.Triggered> callback,
            int flags) {
        Flags.checkAllowed(flags, SCI_FLAG_USE_CALLBACK() | SCI_FLAG_CONDITIONAL_INTERRUPT());
        if (!(segment instanceof CreatedSegment own)) {
            throw new SciException(SCI_ERR_ILLEGAL_OPERATION()); // only the process that created it
            // receives stores
        }
        own.context().topology().checkAdapter(adapter);
        throwIf(offset % Integer.BYTES != 0, SCI_ERR_OFFSET_ALIGNMENT());
        var place = Integer.toUnsignedLong(offset);
        throwIf(place > own.bytes() - Integer.BYTES, SCI_ERR_OUT_OF_RANGE());
        var address = own.hold() + place;
        var flag =
                new InterruptFlag(
                        own,
                        place,
                        Flags.has(flags, SCI_FLAG_CONDITIONAL_INTERRUPT()),
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

    /** A process has stored, and found that the store is to interrupt. */
    void stored(boolean counted) {
        if (counted == conditional) {
            triggers.put(LocalInterrupt.Triggered.PLAIN, 1);
        }
    }

    /** In C: {@code SCIEnableConditionalInterrupt}. */
    public synchronized void enable() {
        check();
        var before = (int) WORD.getVolatile(memory, 0L);
        throwIf(!WORD.compareAndSet(memory, 0L, before, 0), SCI_ERR_COND_INT_RACE_PROBLEM());
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
        throwIf(count < 0 || count >= DISABLED, SCI_ERR_OVERFLOW());
        return count;
    }

    private void check() {
        throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(!conditional, SCI_ERR_ILLEGAL_OPERATION());
    }

    /** Waits for an interrupt. In C: {@code SCIWaitForInterrupt}. */
    public void await(int milliseconds) {
        var _ = triggers.await(milliseconds, true);
    }

    /** Removes the flag. In C: {@code SCIRemoveInterrupt}. */
    public void remove() {
        synchronized (this) {
            throwIf(removed, SCI_ERR_ILLEGAL_PARAMETER());
            removed = true;
        }
        segment.remove(this);
        segment.release();
        triggers.close();
    }
}
