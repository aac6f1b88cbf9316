package org.jrdma.nvme.soft;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory for the data of the commands of one queue: small buffers, and a few for the
 * largest transfer. It has a single small buffer until {@link #allocate} is called, because anyone
 * who reaches the target can open connections. Confined to the thread of the queue.
 */
final class StagingPool {

    static final int SMALL_BYTES = 4 * Configuration.PAGE_BYTES;
    private static final int IO_SMALL = 32;
    private static final int IO_LARGE = 4;
    private static final int ADMIN_SMALL = 4;
    private static final int ADMIN_LARGE = 1;

    /** A buffer for the data of one command. */
    record Buffer(MemorySlice slice, boolean isLarge) {}

    private final RegisteredArena arena;
    private final boolean isAdmin;
    private final Deque<Buffer> small = new ArrayDeque<>();
    private final Deque<Buffer> large = new ArrayDeque<>();

    StagingPool(RegisteredArena arena, boolean isAdmin) throws VerbsException {
        this.arena = arena;
        this.isAdmin = isAdmin;
        add(small, SMALL_BYTES, 1);
    }

    /** Allocates all other buffers. */
    void allocate() throws VerbsException {
        add(small, SMALL_BYTES, (isAdmin ? ADMIN_SMALL : IO_SMALL) - 1);
        add(large, HostDataBuffer.MAX_BYTES, isAdmin ? ADMIN_LARGE : IO_LARGE);
    }

    private void add(Deque<Buffer> pool, int bytes, int count) throws VerbsException {
        var region = arena.region((long) bytes * count);
        for (var i = 0; i < count; i++) {
            pool.push(new Buffer(region.slice((long) i * bytes, bytes), bytes > SMALL_BYTES));
        }
    }

    /** Returns the largest number of buffers that are in use at the same time. */
    static int buffers(boolean isAdmin) {
        return isAdmin ? ADMIN_SMALL + ADMIN_LARGE : IO_SMALL + IO_LARGE;
    }

    /** Takes a buffer; null if none is free. */
    @Nullable Buffer take(int bytes) {
        return (bytes <= SMALL_BYTES ? small : large).poll();
    }

    void release(Buffer buffer) {
        (buffer.isLarge() ? large : small).push(buffer);
    }
}
