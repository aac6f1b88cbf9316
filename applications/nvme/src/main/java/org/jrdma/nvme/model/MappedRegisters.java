package org.jrdma.nvme.model;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The registers of a controller in BAR 0. Each access is one load or store of 32 or 64 bits. A load
 * has acquire semantics, and a store has release semantics.
 *
 * <p>Safe for use by multiple threads.
 *
 * @param memory the memory of BAR 0, aligned to 8 bytes
 */
public record MappedRegisters(MemorySegment memory) {

    /** The offset of the {@link Capabilities}, 64 bits (CAP). */
    public static final int CAPABILITIES = 0x00;

    /** The offset of the version of the specification: major, minor, tertiary (VS). */
    public static final int VERSION = 0x08;

    /** The offset of the register that masks pin-based interrupts (INTMS). */
    public static final int INTERRUPT_MASK_SET = 0x0c;

    /** The offset of the {@link Configuration} (CC). */
    public static final int CONFIGURATION = 0x14;

    /** The offset of the controller status (CSTS). */
    public static final int STATUS = 0x1c;

    /** The offset of the sizes of the admin queues (AQA). */
    public static final int ADMIN_QUEUE_ATTRIBUTES = 0x24;

    /** The offset of the address of the admin submission queue, 64 bits (ASQ). */
    public static final int ADMIN_SUBMISSION_QUEUE = 0x28;

    /** The offset of the address of the admin completion queue, 64 bits (ACQ). */
    public static final int ADMIN_COMPLETION_QUEUE = 0x30;

    /** The offset of the first doorbell. */
    public static final int DOORBELLS = 0x1000;

    /** The value of {@link #VERSION} for revision 1.4. */
    public static final int VERSION_1_4 = 0x0001_0400;

    /** The bit of {@link #STATUS} for a controller that processes commands (CSTS.RDY). */
    public static final int READY = 1;

    /** The bit of {@link #STATUS} for a fatal failure of the controller (CSTS.CFS). */
    public static final int FATAL = 1 << 1;

    /** The bits of {@link #STATUS} for the progress of a shutdown (CSTS.SHST). */
    public static final int SHUTDOWN_MASK = 3 << 2;

    /** The value of {@link #SHUTDOWN_MASK} after a shutdown. */
    public static final int SHUTDOWN_COMPLETE = 2 << 2;

    /** The value that a load returns if the device is not reachable any more. */
    public static final int UNREACHABLE = -1;

    private static final VarHandle INT = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final VarHandle LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    /** Loads a register of 32 bits. */
    public int read(long offset) {
        return (int) INT.getAcquire(memory, offset);
    }

    /** Stores a register of 32 bits. */
    public void write(long offset, int value) {
        INT.setRelease(memory, offset, value);
    }

    /** Loads a register of 64 bits. */
    public long readLong(long offset) {
        return (long) LONG.getAcquire(memory, offset);
    }

    /** Stores a register of 64 bits. */
    public void writeLong(long offset, long value) {
        LONG.setRelease(memory, offset, value);
    }

    /** Returns the offset of the tail doorbell of a submission queue. */
    public static long tailDoorbell(int queue, int strideBytes) {
        return DOORBELLS + 2L * queue * strideBytes;
    }

    /** Returns the offset of the head doorbell of a completion queue. */
    public static long headDoorbell(int queue, int strideBytes) {
        return DOORBELLS + (2L * queue + 1) * strideBytes;
    }

    /** Returns the value of {@link #ADMIN_QUEUE_ATTRIBUTES} for two numbers of entries. */
    public static int adminQueueAttributes(int submissionEntries, int completionEntries) {
        return (submissionEntries - 1) | (completionEntries - 1) << 16;
    }

    /** Returns the number of entries of the admin submission queue. */
    public static int adminSubmissionEntries(int attributes) {
        return (attributes & 0xfff) + 1;
    }

    /** Returns the number of entries of the admin completion queue. */
    public static int adminCompletionEntries(int attributes) {
        return (attributes >>> 16 & 0xfff) + 1;
    }
}
