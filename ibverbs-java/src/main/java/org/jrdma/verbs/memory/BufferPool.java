package org.jrdma.verbs.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A pool of registered buffers with a limit for their total size. Released buffers stay registered,
 * because registering memory takes much longer than using it.
 *
 * <pre>{@code
 * var buffer = pool.tryTake(block.length());
 * if (buffer == null) {
 *     return false; // The pool is exhausted. Try again after a buffer was released.
 * }
 * queuePair.read(buffer.slice(), block);
 * }</pre>
 *
 * <p>The size of a buffer is rounded up by at most a quarter, to at least a page. If the limit is
 * reached, the pool closes idle buffers of other sizes, the largest first. {@link #trim()} closes
 * all idle buffers. Buffers are not cleared: a buffer contains the data of its previous use.
 *
 * <p>Owned by its {@link org.jrdma.verbs.ProtectionDomain}, which closes all buffers when it is
 * closed. Safe for use by multiple threads.
 */
public final class BufferPool implements AutoCloseable {

    /**
     * The state of a pool and its counters since it was created.
     *
     * @param maxBytes the limit of the pool
     * @param registeredBytes the total size of all buffers, idle or in use
     * @param usedBytes the total size of the buffers in use
     * @param usedBuffers the number of buffers in use
     * @param peakUsedBytes the highest value of {@code usedBytes}
     * @param taken the number of buffers that {@link #tryTake} has returned
     * @param registrations the number of buffers that were registered; the other buffers that were
     *     taken had been released before
     * @param exhaustions the number of calls of {@link #tryTake} that returned null
     */
    public record Statistics(
            long maxBytes,
            long registeredBytes,
            long usedBytes,
            long usedBuffers,
            long peakUsedBytes,
            long taken,
            long registrations,
            long exhaustions) {}

    /** A registered buffer. Each buffer has an arena of its own, so that it can be freed alone. */
    record Block(RegisteredArena arena, MemoryRegion region) {}

    private static final long PAGE_BYTES = LinuxCalls.pageBytes();

    private final DomainHandle domain;
    private final Set<Access> access;
    private final long maxBytes;
    private final String name;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private final TreeMap<Long, Deque<Block>> idleBySize = new TreeMap<>();
    private long idleBytes;
    private long usedBytes;
    private long usedBuffers;
    private long peakUsedBytes;
    private long taken;
    private long registrations;
    private long exhaustions;
    private boolean closed;

    BufferPool(DomainHandle domain, long maxBytes, Set<Access> access) {
        FieldRangeChecks.check("number of bytes", maxBytes, PAGE_BYTES, RegisteredArena.MAX_BYTES);
        this.domain = domain;
        this.access = access;
        this.maxBytes = maxBytes;
        this.name =
                String.format(
                        Locale.ROOT,
                        "buffer pool of %,d bytes %s on %s",
                        maxBytes,
                        Access.describe(access),
                        domain.device().name());
    }

    /**
     * Takes a buffer with one reference. {@link PooledBuffer#release()} returns the buffer to this
     * pool.
     *
     * @param bytes the length of the buffer
     * @return null if the limit would be exceeded because of the buffers in use
     * @throws IllegalArgumentException if {@code bytes} is not positive, or the buffer would exceed
     *     the limit even if no other buffer was in use
     * @throws VerbsException if the registration of a new buffer fails
     * @throws IllegalStateException if this pool or the protection domain is closed
     */
    public @Nullable PooledBuffer tryTake(long bytes) throws VerbsException {
        FieldRangeChecks.check("number of bytes", bytes, 1, maxBytes);
        var size = roundUp(bytes);
        if (size > maxBytes) {
            throw new IllegalArgumentException(
                    "A buffer of %d bytes, rounded up to %d, exceeds the limit of the %s"
                            .formatted(bytes, size, this));
        }
        try (var _ = domain.lifetime().held()) {
            lock.lock();
            try {
                if (closed) {
                    throw new IllegalStateException("The %s is closed".formatted(this));
                }
                if (usedBytes + size > maxBytes) {
                    exhaustions++;
                    return null;
                }
                usedBytes += size;
                usedBuffers++;
                peakUsedBytes = Math.max(peakUsedBytes, usedBytes);
                taken++;
                var idle = pollIdle(size);
                if (idle != null) {
                    return new PooledBuffer(this, idle, bytes);
                }
                closeIdleWhileAboveLimit();
                registrations++;
            } finally {
                lock.unlock();
            }
            return new PooledBuffer(this, register(size), bytes);
        }
    }

    /** Rounds up to a multiple of a quarter of the next lower power of two, or of a page. */
    private static long roundUp(long bytes) {
        var step = Math.max(PAGE_BYTES, Long.highestOneBit(bytes) >> 2);
        return (bytes + step - 1) & -step;
    }

    private @Nullable Block pollIdle(long size) {
        var idle = idleBySize.get(size);
        if (idle == null) {
            return null;
        }
        var block = idle.removeLast(); // The one that was released last is probably in the cache.
        if (idle.isEmpty()) {
            idleBySize.remove(size);
        }
        idleBytes -= size;
        return block;
    }

    private void closeIdleWhileAboveLimit() {
        while (usedBytes + idleBytes > maxBytes) {
            pollIdle(idleBySize.lastKey()).arena.close();
        }
    }

    /** Registers a buffer for which {@link #tryTake} has reserved the bytes. */
    private Block register(long size) throws VerbsException {
        var arena = new RegisteredArena(domain, RegisteredArena.PageSize.NORMAL, access);
        try {
            return new Block(arena, arena.region(size));
        } catch (Throwable e) {
            arena.close();
            lock.lock();
            try {
                taken--;
                registrations--;
                unreserve(size);
            } finally {
                lock.unlock();
            }
            throw e;
        }
    }

    private void unreserve(long size) {
        usedBytes -= size;
        usedBuffers--;
    }

    /** Makes a buffer idle whose last reference was released. */
    void release(Block block) {
        var size = block.region.length();
        lock.lock();
        try {
            unreserve(size);
            if (!closed && block.region.isOpen()) {
                idleBySize.computeIfAbsent(size, _ -> new ArrayDeque<>()).addLast(block);
                idleBytes += size;
                return;
            }
        } finally {
            lock.unlock();
        }
        block.arena.close();
    }

    /** Returns the current state of this pool. */
    public Statistics statistics() {
        lock.lock();
        try {
            return new Statistics(
                    maxBytes,
                    usedBytes + idleBytes,
                    usedBytes,
                    usedBuffers,
                    peakUsedBytes,
                    taken,
                    registrations,
                    exhaustions);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Closes the idle buffers, for a program that expects to take no buffers for a while. Buffers
     * in use are not affected, and {@link #tryTake} registers new buffers when they are needed.
     * Waits up to ten seconds for I/O operations of other threads that use a buffer; see {@link
     * RegisteredArena}.
     */
    public void trim() {
        lock.lock();
        try {
            closeIdle();
        } finally {
            lock.unlock();
        }
    }

    private void closeIdle() {
        while (!idleBySize.isEmpty()) {
            pollIdle(idleBySize.lastKey()).arena.close();
        }
    }

    /**
     * Closes the idle buffers. Buffers in use stay usable, and are closed when they are released.
     * Waits up to ten seconds for I/O operations of other threads that use a buffer; see {@link
     * RegisteredArena}.
     */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            closeIdle();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
