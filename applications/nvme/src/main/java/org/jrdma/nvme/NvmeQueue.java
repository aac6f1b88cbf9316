package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.Lifetime;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.Registers;
import org.jspecify.annotations.Nullable;

/**
 * An I/O queue. The program submits commands and polls for their completions. Neither allocates.
 *
 * <pre>{@code
 * queue.read(namespace, block, 8, memory, 0, 42);
 * while (!queue.next()) {
 *     Thread.onSpinWait();
 * }
 * if (!queue.succeeded()) {
 *     throw queue.failure(); // queue.context() is 42
 * }
 * }</pre>
 *
 * <p>Owned by its {@link NvmeDrive}. Confined to the thread that uses it first, except {@link
 * #close()}: other threads get a WrongThreadException. Commands complete in any order.
 */
public final class NvmeQueue implements AutoCloseable {

    private static final VarHandle INT = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final VarHandle LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private static final int MAX_BLOCKS = 65_536;

    /** The number of polls without a completion between two checks of the controller. */
    private static final int POLLS_PER_CHECK = 4096;

    private static final int SPINS = 1000;
    private static final long PAUSE_NANOS = 10_000;

    private final QueueResources resources;
    private final Lifetime lifetime;
    private final Registers registers;
    private final long tailDoorbell;
    private final long headDoorbell;
    private final MemorySegment memory;
    private final long completionOffset;
    private final int submissionEntries;
    private final int completionEntries;
    private final int ringThreshold;
    private final int maxTransferBytes;
    private final long ioTimeoutNanos;

    private final CommandSlots slots;

    /**
     * Written under the monitor of this object. A thread sees itself here only if it is the owner.
     */
    private @Nullable Thread owner;

    private int tail;
    private int head;
    private int phase = 1;
    private int unreported;
    private int emptyPolls;

    /** The time of the first check without a completion; meaningless if {@link #hasProgressed}. */
    private long idleSince;

    private boolean hasProgressed = true;
    private boolean hasTaken;
    private long context;
    private int status;
    private @Nullable NvmeException failure;

    @SuppressWarnings("this-escape") // Leaks registers this object but does not use it
    NvmeQueue(QueueResources resources, int maxTransferBytes) {
        var controller = resources.controller();
        var stride = controller.capabilities().doorbellStride();
        var depth = resources.depth();
        this.resources = resources;
        this.lifetime = resources.lifetime();
        this.registers = controller.registers();
        this.tailDoorbell = Registers.tailDoorbell(resources.id(), stride);
        this.headDoorbell = Registers.headDoorbell(resources.id(), stride);
        this.memory = resources.memory().memory();
        this.completionOffset = resources.completionOffset();
        this.submissionEntries = depth + 1;
        this.completionEntries = resources.completionEntries();
        // the completion queue has room for all pending and all unreported completions
        this.ringThreshold = completionEntries - 1 - depth;
        this.maxTransferBytes = maxTransferBytes;
        this.ioTimeoutNanos = Deadline.after(controller.options().ioTimeout()).remainingNanos();
        this.slots = new CommandSlots(depth);
        Leaks.watch(this, lifetime.toString(), lifetime);
    }

    /**
     * Submits a read.
     *
     * @param block the first block
     * @param blocks the number of blocks
     * @param target the memory for the data
     * @param offset the offset in the memory, a multiple of 4
     * @param context a value that {@link #context()} returns for the completion
     * @return false if the queue is full
     * @throws IndexOutOfBoundsException if the data do not fit in the memory
     * @throws IllegalArgumentException if the number of blocks or the offset is invalid, or the
     *     memory belongs to another drive
     * @throws IllegalStateException if the queue or the memory is closed
     */
    public boolean read(
            NvmeNamespace namespace,
            long block,
            int blocks,
            DmaMemory target,
            long offset,
            long context) {
        return transfer(IoOpcode.READ, namespace, block, blocks, target, offset, false, context);
    }

    /**
     * Submits a write. The parameters and exceptions are those of {@link #read}.
     *
     * @return false if the queue is full
     */
    public boolean write(
            NvmeNamespace namespace,
            long block,
            int blocks,
            DmaMemory source,
            long offset,
            long context) {
        return transfer(IoOpcode.WRITE, namespace, block, blocks, source, offset, false, context);
    }

    /**
     * Submits a flush, which makes the completed writes of the namespace durable.
     *
     * @return false if the queue is full
     * @throws IllegalStateException if the queue is closed
     */
    public boolean flush(NvmeNamespace namespace, long context) {
        return submit(IoOpcode.FLUSH, namespace.id(), 0, 0, null, 0, 0, false, context);
    }

    /**
     * Submits a command that sets blocks to zero.
     *
     * @param blocks the number of blocks, from 1 to 65,536
     * @return false if the queue is full
     * @throws IllegalArgumentException if the number of blocks is invalid
     * @throws IllegalStateException if the queue is closed
     */
    public boolean writeZeroes(NvmeNamespace namespace, long block, int blocks, long context) {
        checkBlocks(namespace, blocks, MAX_BLOCKS);
        return submit(
                IoOpcode.WRITE_ZEROES, namespace.id(), block, blocks, null, 0, 0, false, context);
    }

    /**
     * Submits a reservation command.
     *
     * @param dwords dword 10, and dword 11 in the high bits
     * @return false if the queue is full
     */
    boolean reserve(int opcode, NvmeNamespace namespace, long dwords, DmaMemory data, int bytes) {
        return submit(opcode, namespace.id(), dwords, 0, data, 0, bytes, false, 0);
    }

    private static void checkBlocks(NvmeNamespace namespace, int blocks, int limit) {
        if (blocks < 1 || blocks > limit) {
            throw new IllegalArgumentException(
                    "The number of blocks is %d. A command for namespace %d has 1 to %d blocks."
                            .formatted(blocks, namespace.id(), limit));
        }
    }

    /**
     * Submits a read or write.
     *
     * @param isHeld true if the caller holds the memory. The queue takes over the hold
     */
    boolean transfer(
            int opcode,
            NvmeNamespace namespace,
            long block,
            int blocks,
            DmaMemory data,
            long offset,
            boolean isHeld,
            long context) {
        var bytes = checkTransfer(namespace, blocks, data, offset);
        return submit(opcode, namespace.id(), block, blocks, data, offset, bytes, isHeld, context);
    }

    /** Checks the parameters of a transfer, and returns its size in bytes. */
    int checkTransfer(NvmeNamespace namespace, int blocks, DmaMemory data, long offset) {
        checkBlocks(
                namespace,
                blocks,
                Math.min(MAX_BLOCKS, maxTransferBytes >>> namespace.blockShift()));
        var bytes = blocks << namespace.blockShift();
        if (offset < 0 || offset > data.segment().byteSize() - bytes) {
            throw new IndexOutOfBoundsException(
                    "%d bytes at offset %d do not fit in memory of %d bytes"
                            .formatted(bytes, offset, data.segment().byteSize()));
        }
        if (offset % Integer.BYTES != 0 || !data.belongsTo(resources.controller())) {
            throw new IllegalArgumentException(
                    "The memory must belong to %s, and the offset %d must be a multiple of 4"
                            .formatted(resources.controller(), offset));
        }
        return bytes;
    }

    private boolean submit(
            int opcode,
            int namespace,
            long block,
            int blocks,
            @Nullable DmaMemory data,
            long offset,
            int bytes,
            boolean isHeld,
            long context) {
        checkThread();
        lifetime.hold();
        try {
            var slot = slots.next();
            if (slot == CommandSlots.NONE) {
                return false;
            }
            var prp1 = 0L;
            var prp2 = 0L;
            if (data != null) {
                resources.holdMemory(slot, data, isHeld);
                var firstPage = (int) (offset >>> Configuration.PAGE_SHIFT);
                var inPage = (int) offset & (Configuration.PAGE_BYTES - 1);
                var pages =
                        (inPage + bytes + Configuration.PAGE_BYTES - 1)
                                >>> Configuration.PAGE_SHIFT;
                prp1 = data.pageAddress(firstPage) + inPage;
                if (pages == 2) {
                    prp2 = data.pageAddress(firstPage + 1);
                } else if (pages > 2) {
                    prp2 = writeList(slot, data, firstPage, pages);
                }
            }
            slots.occupy(opcode, namespace, block, blocks, context);
            Command.encodeBlocks(
                    memory,
                    (long) tail * Command.BYTES,
                    opcode,
                    slot,
                    namespace,
                    prp1,
                    prp2,
                    block,
                    Math.max(blocks - 1, 0));
            tail = tail + 1 == submissionEntries ? 0 : tail + 1;
            registers.write(tailDoorbell, tail);
            return true;
        } finally {
            lifetime.release();
        }
    }

    /** Writes the addresses of all pages but the first, and returns the address of the list. */
    private long writeList(int slot, DmaMemory data, int firstPage, int pages) {
        var list = resources.listOffset(slot);
        for (var page = 1; page < pages; page++) {
            LONG.set(memory, list + (page - 1L) * Long.BYTES, data.pageAddress(firstPage + page));
        }
        return resources.memory().pageAddress((int) (list >>> Configuration.PAGE_SHIFT));
    }

    /**
     * Takes the next completion without waiting.
     *
     * @return false if no command has completed
     * @throws NvmeException if the controller has failed, was stopped by another program, or
     *     completes unknown commands. This is checked now and then while nothing completes
     * @throws org.jrdma.ffi.FabricTimeoutException if commands are pending, and none of them has
     *     completed for the duration of {@link NvmeOptions#ioTimeout()}
     * @throws IllegalStateException if the queue is closed
     */
    public boolean next() throws FabricException {
        checkThread();
        lifetime.hold();
        try {
            var last =
                    (int)
                            INT.getAcquire(
                                    memory,
                                    completionOffset
                                            + (long) head * Completion.BYTES
                                            + Completion.LAST_DWORD);
            if (Completion.phase(last) != phase) {
                pollWasEmpty();
                return false;
            }
            take(last);
            return true;
        } finally {
            lifetime.release();
        }
    }

    private void take(int last) throws NvmeException {
        var slot = Completion.commandId(last);
        if (!slots.isPending(slot)) {
            throw new NvmeException(
                    "%s completed the unknown command %d. Close the queue."
                            .formatted(lifetime, slot));
        }
        head++;
        if (head == completionEntries) {
            head = 0;
            phase ^= 1;
        }
        slots.free(slot);
        hasProgressed = true;
        unreported++;
        if (unreported >= ringThreshold) {
            reportHead();
        }
        hasTaken = true;
        context = slots.context(slot);
        status = Completion.status(last);
        try {
            failure =
                    status == 0
                            ? null
                            : new NvmeException(slots.describe(slot), lifetime.toString(), status);
        } finally {
            resources.releaseMemory(slot); // last, because it may free memory, which can fail
        }
    }

    private void pollWasEmpty() throws FabricException {
        if (unreported > 0) {
            reportHead();
        }
        emptyPolls++;
        if (emptyPolls % POLLS_PER_CHECK == 0 && slots.pending() > 0) {
            checkProgress();
        }
    }

    /** Reports to the controller which completions were taken. */
    private void reportHead() {
        registers.write(headDoorbell, head);
        unreported = 0;
    }

    private void checkProgress() throws FabricException {
        resources.controller().checkRunning();
        var now = System.nanoTime();
        if (hasProgressed) {
            hasProgressed = false;
            idleSince = now;
        } else if (now - idleSince > ioTimeoutNanos) {
            throw Deadline.after(resources.controller().options().ioTimeout())
                    .missed(
                            "%s completed none of %d pending commands"
                                    .formatted(lifetime, pending()));
        }
    }

    /**
     * Waits for the next completion and takes it. Spins, and later pauses between polls.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if no command completes in time; the commands
     *     remain pending
     * @throws NvmeException if the thread is interrupted, or as specified for {@link #next()}
     * @throws IllegalStateException if no command is pending, or the queue is closed
     */
    public void await(Duration timeout) throws FabricException {
        if (pending() == 0) {
            throw new IllegalStateException("No command is pending in " + lifetime);
        }
        var deadline = Deadline.after(timeout);
        for (var polls = 0; !next(); polls++) {
            if (polls < SPINS) {
                Thread.onSpinWait();
            } else {
                pause(deadline);
            }
        }
    }

    private void pause(Deadline deadline) throws FabricException {
        resources.controller().checkRunning();
        if (deadline.hasPassed()) {
            throw deadline.missed("%s completed no command".formatted(lifetime));
        }
        LockSupport.parkNanos(PAUSE_NANOS);
        if (Thread.currentThread().isInterrupted()) {
            throw new NvmeException(
                    "Interrupted while waiting for a completion of %s".formatted(lifetime));
        }
    }

    /** Returns the context of the last completion that was taken. */
    public long context() {
        requireTaken();
        return context;
    }

    /** Returns true if the command of the last completion that was taken succeeded. */
    public boolean succeeded() {
        requireTaken();
        return status == 0;
    }

    /**
     * Returns an exception that describes the failure of the last completion that was taken.
     *
     * @throws IllegalStateException if the command succeeded, or no completion was taken
     */
    public NvmeException failure() {
        requireTaken();
        if (status == 0 || failure == null) {
            throw new IllegalStateException("The last command of %s succeeded".formatted(lifetime));
        }
        return failure;
    }

    private void requireTaken() {
        if (!hasTaken) {
            throw new IllegalStateException("No completion was taken from " + lifetime);
        }
    }

    /** Returns the number of commands that were submitted and whose completion was not taken. */
    public int pending() {
        return slots.pending();
    }

    /** Returns the number of commands that can be pending. */
    public int depth() {
        return slots.depth();
    }

    private void checkThread() {
        if (Thread.currentThread() != owner) {
            bindThread();
        }
    }

    private synchronized void bindThread() {
        if (owner != null) {
            throw new WrongThreadException("%s is confined to %s".formatted(lifetime, owner));
        }
        owner = Thread.currentThread();
    }

    /** Registers a callback that runs when a close of this queue begins. */
    void onClose(Runnable callback) {
        lifetime.onClose(callback);
    }

    /**
     * Deletes the queue. Pending commands are not completed, but may have been executed. Waits for
     * the controller for up to {@link NvmeOptions#adminTimeout()}. If the deletion fails, the
     * memory of pending commands remains allocated until the drive is closed.
     */
    @Override
    public void close() {
        lifetime.close();
    }

    /** Returns the name of the queue for messages. */
    @Override
    public String toString() {
        return lifetime.toString();
    }
}
