package org.jrdma.nvme.soft;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Blocks in memory behind a volatile write cache. */
public final class VolatileStorage extends BlockStorage {

    private final MemorySegment cached;
    private final MemorySegment durable;

    public VolatileStorage(long blocks, int blockBytes) {
        super(blocks, Integer.numberOfTrailingZeros(blockBytes));
        cached = Arena.ofAuto().allocate(blocks * blockBytes, blockBytes);
        durable = Arena.ofAuto().allocate(blocks * blockBytes, blockBytes);
    }

    /** Discards all writes that were not made durable. No controller must use the storage. */
    public void losePower() {
        var _ = cached.copyFrom(durable);
    }

    @Override
    void read(long offset, int bytes, HostDataBuffer target) throws CommandException {
        target.write(cached, offset);
    }

    @Override
    void write(long offset, int bytes, HostDataBuffer source) throws CommandException {
        source.read(cached, offset);
    }

    @Override
    void zero(long offset, long bytes) {
        var _ = cached.asSlice(offset, bytes).fill((byte) 0);
    }

    @Override
    long force(long offset, long bytes) {
        MemorySegment.copy(cached, offset, durable, offset, bytes);
        return 0;
    }

    @Override
    public void close() {
        // the garbage collector frees the memory
    }
}
