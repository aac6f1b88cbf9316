package org.jrdma.nvme;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jrdma.nvme.pcie.DmaAllocation;

/**
 * Memory for data, which the controller of a {@link NvmeDrive} accesses directly.
 *
 * <p>Owned by the drive. Safe for use by multiple threads. {@link #close()} does not wait for
 * pending commands: the memory is freed when the last command that uses it has completed.
 */
public final class DmaMemory implements AutoCloseable {

    private static final int CLOSED = Integer.MIN_VALUE;
    private static final VarHandle STATE;
    private static final VarHandle FREED;

    static {
        try {
            var lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(DmaMemory.class, "state", int.class);
            FREED = lookup.findVarHandle(DmaMemory.class, "freed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Object owner;
    private final DmaAllocation allocation;
    private final int remoteKey;
    private final Runnable release;

    /** The number of pending commands, and the bit {@link #CLOSED}. */
    @SuppressWarnings("unused") // through STATE
    private volatile int state;

    @SuppressWarnings("unused") // through FREED
    private volatile boolean freed;

    /**
     * Takes over memory.
     *
     * @param owner the controller
     * @param remoteKey the key by which a controller on a network accesses the memory; otherwise 0
     * @param release frees the memory
     */
    DmaMemory(Object owner, DmaAllocation allocation, int remoteKey, Runnable release) {
        this.owner = owner;
        this.allocation = allocation;
        this.remoteKey = remoteKey;
        this.release = release;
    }

    /**
     * Returns the memory. An access after the memory was freed throws {@link
     * IllegalStateException}.
     */
    public MemorySegment segment() {
        return allocation.memory();
    }

    /** Returns the I/O address of a page of 4,096 bytes. */
    long pageAddress(int page) {
        return allocation.pageAddress(page);
    }

    int remoteKey() {
        return remoteKey;
    }

    boolean belongsTo(Object controller) {
        return owner == controller;
    }

    /**
     * Prevents the memory from being freed until {@link #release()}.
     *
     * @throws IllegalStateException if the memory is closed
     */
    void hold() {
        if ((int) STATE.getAndAdd(this, 1) < 0) {
            release();
            throw new IllegalStateException("The memory of %s is closed".formatted(owner));
        }
    }

    void release() {
        if ((int) STATE.getAndAdd(this, -1) == CLOSED + 1) {
            free();
        }
    }

    /** Frees the memory, or arranges that the last pending command frees it. */
    @Override
    public void close() {
        if ((int) STATE.getAndBitwiseOr(this, CLOSED) == 0) {
            free();
        }
    }

    private void free() {
        if (FREED.compareAndSet(this, false, true)) {
            release.run();
        }
    }
}
