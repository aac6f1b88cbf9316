package org.jrdma.volume.drive;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.DmaMemory;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeNamespace;
import org.jrdma.nvme.NvmeQueue;

/**
 * The queue of one thread, and the memory through which its data passes. Used by that thread only,
 * except {@link #close()}. Must be closed after a failure, because commands may be pending.
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
    private final int slotBytes;
    private final NvmeQueue queue;
    private final DmaMemory memory;

    IoChannel(NvmeDrive drive, NvmeNamespace namespace, Duration timeout) throws FabricException {
        this.namespace = namespace;
        this.timeout = timeout;
        this.slotBytes = Math.min(SLOT_BYTES, drive.maxTransferBytes());
        this.queue = drive.newQueue(DEPTH);
        try {
            this.memory = drive.newMemory((long) DEPTH * slotBytes);
        } catch (FabricException e) {
            queue.close();
            throw e;
        }
    }

    void read(long firstBlock, MemorySegment target) throws FabricException {
        transfer(false, firstBlock, target);
    }

    void write(long firstBlock, MemorySegment source) throws FabricException {
        transfer(true, firstBlock, source);
    }

    /**
     * Submits commands while slots are free. The context of a command is the offset of its data.
     */
    private void transfer(boolean isWrite, long firstBlock, MemorySegment data)
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
                submit(isWrite, block, data.asSlice(next, bytes), slot, context);
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
    }

    private long commandBytes(long total) {
        var part = Math.ceilDiv(total, (long) DEPTH * MIN_COMMAND_BYTES) * MIN_COMMAND_BYTES;
        return Math.min(part, slotBytes);
    }

    /** Submits a command for blocks whose data passes through the memory of a slot. */
    private void submit(boolean isWrite, long block, MemorySegment data, long slot, long context)
            throws FabricException {
        var bytes = data.byteSize();
        var blocks = (int) (bytes >>> namespace.blockShift());
        boolean isSubmitted;
        if (isWrite) {
            MemorySegment.copy(data, 0, memory.segment(), slot * slotBytes, bytes);
            isSubmitted = queue.write(namespace, block, blocks, memory, slot * slotBytes, context);
        } else {
            isSubmitted = queue.read(namespace, block, blocks, memory, slot * slotBytes, context);
        }
        if (!isSubmitted) {
            throw new IllegalStateException(queue + " is full, although a slot is free");
        }
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
