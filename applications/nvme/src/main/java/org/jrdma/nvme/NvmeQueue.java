package org.jrdma.nvme;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.linkage.PollingBudget;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.IoOpcode;
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
public abstract sealed class NvmeQueue implements AutoCloseable permits PcieQueue, RdmaQueue {

    private static final int MAX_BLOCKS = 65_536;

    /** The number of polls without a completion between two checks of the controller. */
    private static final int POLLS_PER_CHECK = 4096;

    /** The number of polls before a waiting thread pauses. */
    static final int SPINS = 1000;

    private static final long POLLING_INTERVAL_NANOS = 10_000;

    private final AbstractController controller;
    private final Lifetime lifetime;
    private final PendingCommandMemory held;
    private final CommandSlots slots;
    private final int maxTransferBytes;
    private final long ioTimeoutNanos;

    /** The flags of writes in dword 12. */
    private final int writeFlags;

    /**
     * Written under the monitor of this object. A thread sees itself here only if it is the owner.
     */
    private @Nullable Thread owner;

    private int emptyPolls;

    /** The time of the first check without a completion; meaningless if {@link #hasProgressed}. */
    private long idleSince;

    private boolean hasProgressed = true;
    private boolean hasTaken;
    private long context;
    private int status;
    private @Nullable NvmeException failure;

    @SuppressWarnings("this-escape") // Leaks registers this object but does not use it
    NvmeQueue(
            AbstractController controller,
            Lifetime lifetime,
            PendingCommandMemory held,
            int depth,
            int maxTransferBytes) {
        this.controller = controller;
        this.lifetime = lifetime;
        this.held = held;
        this.slots = new CommandSlots(depth);
        this.maxTransferBytes = maxTransferBytes;
        this.writeFlags = controller.options().writeThrough() ? Command.FORCE_UNIT_ACCESS : 0;
        this.ioTimeoutNanos = Deadline.after(controller.options().ioTimeout()).remainingNanos();
        Leaks.watch(this, lifetime.toString(), lifetime);
    }

    /**
     * Sends a command.
     *
     * @param slot the slot of the command, which is its id
     * @param dword12 the number of blocks minus one, and flags
     * @param bytes the size of the data
     */
    abstract void send(
            int slot,
            int opcode,
            int namespace,
            long block,
            int dword12,
            @Nullable DmaMemory data,
            long offset,
            int bytes);

    /**
     * Takes a completion of a pending command.
     *
     * @return the last dword of the completion, or {@link CommandSlots#NOTHING}
     */
    abstract long poll() throws FabricException;

    /** Returns false while pending commands cannot complete, because a connection is lost. */
    abstract boolean isConnected();

    /** Returns true if a slot has a pending command. */
    final boolean isPending(int slot) {
        return slots.isPending(slot);
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
    public final boolean read(
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
    public final boolean write(
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
    public final boolean flush(NvmeNamespace namespace, long context) {
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
    public final boolean writeZeroes(
            NvmeNamespace namespace, long block, int blocks, long context) {
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
    final boolean reserve(
            int opcode, NvmeNamespace namespace, long dwords, DmaMemory data, int bytes) {
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
    final boolean transfer(
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
    final int checkTransfer(NvmeNamespace namespace, int blocks, DmaMemory data, long offset) {
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
        if (offset % Integer.BYTES != 0 || !data.belongsTo(controller)) {
            throw new IllegalArgumentException(
                    "The memory must belong to %s, and the offset %d must be a multiple of 4"
                            .formatted(controller, offset));
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
            if (data != null) {
                held.hold(slot, data, isHeld);
            }
            slots.occupy(opcode, namespace, block, blocks, context);
            send(slot, opcode, namespace, block, dword12(opcode, blocks), data, offset, bytes);
            return true;
        } finally {
            lifetime.release();
        }
    }

    private int dword12(int opcode, int blocks) {
        var isWrite = opcode == IoOpcode.WRITE || opcode == IoOpcode.WRITE_ZEROES;
        return isWrite ? (blocks - 1) | writeFlags : Math.max(blocks - 1, 0);
    }

    /**
     * Takes the next completion without waiting.
     *
     * @return false if no command has completed
     * @throws NvmeException if the controller has failed, was stopped by another program, or
     *     completes unknown commands. Only some of the polls without a completion check this
     * @throws org.jrdma.ffi.FabricTimeoutException if commands are pending, and none of them has
     *     completed for the duration of {@link NvmeOptions#ioTimeout()}
     * @throws IllegalStateException if the queue is closed
     */
    public final boolean next() throws FabricException {
        checkThread();
        lifetime.hold();
        try {
            var last = poll();
            if (last == CommandSlots.NOTHING) {
                pollWasEmpty();
                return false;
            }
            take((int) last);
            return true;
        } finally {
            lifetime.release();
        }
    }

    private void take(int last) {
        var slot = Completion.commandId(last);
        slots.free(slot);
        hasProgressed = true;
        hasTaken = true;
        context = slots.context(slot);
        status = Completion.status(last);
        try {
            failure =
                    status == 0
                            ? null
                            : new NvmeException(slots.describe(slot), lifetime.toString(), status);
        } finally {
            held.release(slot); // last, because it may free memory, which can fail
        }
    }

    /**
     * Pauses until a completion may have arrived. May return earlier.
     *
     * @param maxNanos the maximum duration
     */
    void awaitCompletion(long maxNanos) throws FabricException {
        LockSupport.parkNanos(Math.min(maxNanos, POLLING_INTERVAL_NANOS));
    }

    /** Ends a pause of the owner in {@link #awaitCompletion}. May be called by any thread. */
    void endWait() {}

    private void pollWasEmpty() throws FabricException {
        emptyPolls++;
        if (emptyPolls % POLLS_PER_CHECK == 0 && slots.pending() > 0) {
            checkProgress();
        }
    }

    private void checkProgress() throws FabricException {
        controller.checkRunning();
        var now = System.nanoTime();
        if (hasProgressed || !isConnected()) {
            hasProgressed = false;
            idleSince = now;
        } else if (now - idleSince > ioTimeoutNanos) {
            idleSince = now; // a program may wait again
            throw Deadline.after(controller.options().ioTimeout())
                    .missed(
                            "%s completed none of %d pending commands"
                                    .formatted(lifetime, pending()));
        }
    }

    /**
     * Waits for the next completion and takes it. Polls for tens of microseconds. Then waits for an
     * event of the network adapter, or, for a PCIe controller, pauses between polls.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if no command completes in time; the commands
     *     remain pending
     * @throws NvmeException if the thread is interrupted, or as specified for {@link #next()}
     * @throws IllegalStateException if no command is pending, or the queue is closed
     */
    public final void await(Duration timeout) throws FabricException {
        if (pending() == 0) {
            throw new IllegalStateException("No command is pending in " + lifetime);
        }
        var deadline = Deadline.after(timeout);
        for (var polls = 0; !next(); polls++) {
            if (polls < SPINS) {
                PollingBudget.pause(polls);
            } else {
                pauseUntil(deadline);
            }
        }
    }

    private void pauseUntil(Deadline deadline) throws FabricException {
        if (deadline.hasPassed()) {
            throw deadline.missed("%s completed no command".formatted(lifetime));
        }
        pause(deadline.remainingNanos());
        if (Thread.currentThread().isInterrupted()) {
            throw new NvmeException(
                    "Interrupted while waiting for a completion of %s".formatted(lifetime));
        }
    }

    /** Checks the controller, and waits until a completion may have arrived. */
    final void pause(long maxNanos) throws FabricException {
        checkProgress();
        awaitCompletion(maxNanos);
    }

    /** Returns the context of the last completion that was taken. */
    public final long context() {
        requireTaken();
        return context;
    }

    /** Returns true if the command of the last completion that was taken succeeded. */
    public final boolean succeeded() {
        requireTaken();
        return status == 0;
    }

    /**
     * Returns an exception that describes the failure of the last completion that was taken.
     *
     * @throws IllegalStateException if the command succeeded, or no completion was taken
     */
    public final NvmeException failure() {
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
    public final int pending() {
        return slots.pending();
    }

    /** Returns the number of commands that can be pending. */
    public final int depth() {
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
    final void onClose(Runnable callback) {
        lifetime.onClose(callback);
    }

    /**
     * Deletes the queue, or disconnects it. Pending commands are not completed, but may have been
     * executed. Waits for the controller for up to {@link NvmeOptions#adminTimeout()}. If the
     * deletion fails, the memory of pending commands remains allocated until the drive is closed.
     */
    @Override
    public final void close() {
        lifetime.close();
    }

    /**
     * Returns true if {@link #close()} could not delete the queue. The controller may then still
     * execute the commands that were pending, and access their memory, also if it was unreachable
     * only for a time.
     */
    public abstract boolean isAbandoned();

    /** Returns the name of the queue for messages. */
    @Override
    public final String toString() {
        return lifetime.toString();
    }
}
