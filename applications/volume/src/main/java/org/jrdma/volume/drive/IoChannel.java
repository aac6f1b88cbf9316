package org.jrdma.volume.drive;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.DmaMemory;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeNamespace;
import org.jrdma.nvme.NvmeQueue;
import org.jspecify.annotations.Nullable;

/**
 * The queue of one thread, and the memory through which its data passes. Data in the memory of
 * {@link DmaMemoryRegistry} does not pass through it. Used by that thread only, except {@link
 * #close()}. Must be closed after a failure, because commands may be pending.
 */
final class IoChannel implements AutoCloseable {

    private static final int DEPTH = 8;
    private static final int SLOT_BYTES = 128 * 1024;

    /**
     * The minimum size of a command, unless an access is smaller. An access consists of several
     * commands, because this thread copies the data of one command while the drive executes others.
     */
    private static final int MIN_COMMAND_BYTES = 16 * 1024;

    private final NvmeNamespace namespace;
    private final Duration timeout;
    private final DmaMemoryRegistry buffers;
    private final int maxTransferBytes;
    private final int slotBytes;
    private final NvmeQueue queue;
    private final DmaMemory memory;
    private long copiedBytes;

    /** True if commands may use memory of the caller. */
    private boolean isDirect;

    /** True if write commands may be pending. */
    private boolean isWriting;

    IoChannel(NvmeDrive drive, NvmeNamespace namespace, Duration timeout, DmaMemoryRegistry buffers)
            throws FabricException {
        this.namespace = namespace;
        this.timeout = timeout;
        this.buffers = buffers;
        this.maxTransferBytes = drive.maxTransferBytes();
        this.slotBytes = Math.min(SLOT_BYTES, maxTransferBytes);
        this.queue = drive.newQueue(DEPTH);
        try {
            this.memory = drive.newMemory((long) DEPTH * slotBytes);
        } catch (FabricException e) {
            queue.close();
            throw e;
        }
    }

    void read(long firstBlock, MemorySegment target) throws FabricException {
        var buffer = target.isReadOnly() ? null : buffers.find(target);
        transfer(false, firstBlock, target, buffer);
    }

    void write(long firstBlock, MemorySegment source) throws FabricException {
        transfer(true, firstBlock, source, buffers.find(source));
    }

    private void transfer(
            boolean isWrite, long firstBlock, MemorySegment data, @Nullable DmaMemory buffer)
            throws FabricException {
        isDirect = buffer != null;
        isWriting = isWrite;
        if (buffer == null) {
            copyingTransfer(isWrite, firstBlock, data);
        } else {
            var offset = data.address() - buffer.segment().address();
            directTransfer(isWrite, firstBlock, buffer, offset, data.byteSize());
            isDirect = false;
        }
        isWriting = false;
    }

    private void directTransfer(
            boolean isWrite, long firstBlock, DmaMemory buffer, long offset, long total)
            throws FabricException {
        for (var next = 0L; next < total || queue.pending() > 0; ) {
            while (next < total && queue.pending() < DEPTH) {
                var bytes = Math.min(maxTransferBytes, total - next);
                var block = firstBlock + (next >>> namespace.blockShift());
                submit(isWrite, block, bytes, buffer, offset + next, 0);
                next += bytes;
            }
            awaitCompletion();
        }
    }

    /**
     * Submits commands while slots are free. The context of a command is the offset of its data.
     */
    private void copyingTransfer(boolean isWrite, long firstBlock, MemorySegment data)
            throws FabricException {
        var total = data.byteSize();
        var commandBytes = commandBytes(total);
        var slots = new long[DEPTH];
        for (var slot = 0; slot < DEPTH; slot++) {
            slots[slot] = slot;
        }
        var free = DEPTH;
        var next = 0L;
        for (var completed = 0L; completed < total; ) {
            while (free > 0 && next < total) {
                var slot = slots[--free];
                var bytes = Math.min(commandBytes, total - next);
                var block = firstBlock + (next >>> namespace.blockShift());
                var context = next / commandBytes * DEPTH + slot;
                if (isWrite) {
                    MemorySegment.copy(data, next, memory.segment(), slot * slotBytes, bytes);
                }
                submit(isWrite, block, bytes, memory, slot * slotBytes, context);
                next += bytes;
            }
            awaitCompletion();
            var slot = queue.context() % DEPTH;
            var offset = queue.context() / DEPTH * commandBytes;
            var bytes = Math.min(commandBytes, total - offset);
            if (!isWrite) {
                MemorySegment.copy(memory.segment(), slot * slotBytes, data, offset, bytes);
            }
            slots[free++] = slot;
            completed += bytes;
        }
        copiedBytes += total;
    }

    private long commandBytes(long total) {
        var part = Math.ceilDiv(total, (long) DEPTH * MIN_COMMAND_BYTES) * MIN_COMMAND_BYTES;
        return Math.min(part, slotBytes);
    }

    private void submit(
            boolean isWrite, long block, long bytes, DmaMemory data, long offset, long context) {
        var blocks = (int) (bytes >>> namespace.blockShift());
        var isSubmitted =
                isWrite
                        ? queue.write(namespace, block, blocks, data, offset, context)
                        : queue.read(namespace, block, blocks, data, offset, context);
        if (!isSubmitted) {
            throw new IllegalStateException(queue + " is full, although a slot is free");
        }
    }

    /** Returns the number of bytes that passed through the memory of this object. */
    long copiedBytes() {
        return copiedBytes;
    }

    /**
     * Returns true if this object was closed after a failure, and the drive may still access memory
     * of the caller.
     */
    boolean mayAccessCallerMemory() {
        return isDirect && queue.isAbandoned();
    }

    /**
     * Returns true if this object was closed after a failure, and the drive may still execute
     * writes.
     */
    boolean mayWriteLater() {
        return isWriting && queue.isAbandoned();
    }

    void flush() throws FabricException {
        if (!queue.flush(namespace, 0)) {
            throw new IllegalStateException(queue + " is full, although no command is pending");
        }
        awaitCompletion();
    }

    private void awaitCompletion() throws FabricException {
        queue.await(timeout);
        if (!queue.succeeded()) {
            throw queue.failure();
        }
    }

    @Override
    public void close() {
        queue.close();
        memory.close();
    }
}
