package org.jrdma.nvme.soft;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Blocks in memory behind a volatile write cache. */
public final class VolatileStorage extends BlockStorage {

    private final MemorySegment cached;
    private final MemorySegment durable;
    private volatile Duration readTime = Duration.ZERO;

    public VolatileStorage(long blocks, int blockBytes) {
        super(blocks, Integer.numberOfTrailingZeros(blockBytes));
        cached = Arena.ofAuto().allocate(blocks * blockBytes, blockBytes);
        durable = Arena.ofAuto().allocate(blocks * blockBytes, blockBytes);
    }

    /** Lets each read take at least this long. */
    public void delayReads(Duration time) {
        readTime = time;
    }

    /** Discards all writes that were not made durable. No controller must use the storage. */
    public void losePower() {
        var _ = cached.copyFrom(durable);
    }

    @Override
    void read(long offset, int bytes, HostDataBuffer target) throws CommandException {
        LockSupport.parkNanos(readTime.toNanos());
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
