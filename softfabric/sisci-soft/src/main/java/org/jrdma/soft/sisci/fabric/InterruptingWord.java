package org.jrdma.soft.sisci.fabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jrdma.ffi.linkage.Downcalls;
import org.jspecify.annotations.Nullable;

/**
 * A word of a segment that interrupts this process when another process stores into it. In C:
 * {@code sci_local_interrupt_t}. Safe for use by multiple threads.
 *
 * <p>The word of a conditional flag counts the stores, starting at zero if the flag is enabled and
 * at {@link #DISABLED} otherwise. The process that increments the word triggers an interrupt only
 * if the word was zero.
 */
public final class InterruptingWord {

    private static final VarHandle WORD = JAVA_INT.varHandle();
    private static final int DISABLED = 1 << 30;

    private final CreatedSegment segment;
    private final long offset;
    private final boolean conditional;
    private final MemorySegment memory;
    private final EventQueue<LocalInterrupt.Trigger> triggers;
    private boolean enabled = true;
    private boolean removed;

    private InterruptingWord(
            CreatedSegment segment,
            long offset,
            boolean conditional,
            MemorySegment memory,
            EventQueue<LocalInterrupt.Trigger> triggers) {
        this.segment = segment;
        this.offset = offset;
        this.conditional = conditional;
        this.memory = memory;
        this.triggers = triggers;
    }

    public static InterruptingWord register(
            LocalSegment segment,
            int adapter,
            int offset,
            EventQueue.@Nullable Callback<LocalInterrupt.Trigger> callback,
            int flags) {
        FlagChecks.checkAllowed(flags, SCI_FLAG_USE_CALLBACK() | SCI_FLAG_CONDITIONAL_INTERRUPT());
        // Reports of stores are sent only to the process that has created the segment.
        if (!(segment instanceof CreatedSegment created)) {
            throw new SciException(SCI_ERR_ILLEGAL_OPERATION());
        }
        created.context().topology().checkAdapter(adapter);
        throwIf(offset % Integer.BYTES != 0, SCI_ERR_OFFSET_ALIGNMENT());
        var unsignedOffset = Integer.toUnsignedLong(offset);
        throwIf(unsignedOffset > created.bytes() - Integer.BYTES, SCI_ERR_OUT_OF_RANGE());
        var address = created.hold() + unsignedOffset;
        var flag =
                new InterruptingWord(
                        created,
                        unsignedOffset,
                        FlagChecks.has(flags, SCI_FLAG_CONDITIONAL_INTERRUPT()),
                        Downcalls.memoryAt(MemorySegment.ofAddress(address), Integer.BYTES),
                        EventQueue.unbounded(created.context().callbacks(), callback));
        try {
            created.add(flag);
            return flag;
        } catch (Throwable e) {
            created.release();
            throw e;
        }
    }

    long offset() {
        return offset;
    }

    /**
     * Handles a store by another process through a map that triggers interrupts.
     *
     * @param counted true if the store was made through a map with conditional interrupts
     */
    void stored(boolean counted) {
        if (counted == conditional) {
            triggers.put(LocalInterrupt.Trigger.PLAIN, 1);
        }
    }

    public synchronized void enable() {
        check();
        var before = (int) WORD.getVolatile(memory, 0L);
        throwIf(!WORD.compareAndSet(memory, 0L, before, 0), SCI_ERR_COND_INT_RACE_PROBLEM());
        enabled = true;
    }

    public synchronized void disable() {
        check();
        WORD.setVolatile(memory, 0L, DISABLED);
        enabled = false;
    }

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

    public void await(int milliseconds) {
        var _ = triggers.await(milliseconds);
    }

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
