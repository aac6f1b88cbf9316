package org.jrdma.volume.net;

import java.io.InterruptedIOException;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;

/**
 * Allocates ranges of the memory that a peer reserves for bulk data. Ranges start at multiples of 4
 * KiB. Callers get their ranges in the order in which they asked, so that small ranges do not
 * starve large ones. Safe for use by multiple threads.
 */
final class PeerAreaAllocator {

    private static final int PAGE = 4096;

    private final int pages;
    private final BitSet used = new BitSet();

    /** Held by the caller that is next to get a range. */
    private final ReentrantLock turn = new ReentrantLock(true);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean closed;

    PeerAreaAllocator(int bytes) {
        this.pages = bytes / PAGE;
    }

    /** Returns the size of the largest range in bytes. */
    int maxBytes() {
        return pages * PAGE;
    }

    /**
     * Allocates a range, and waits until one is free.
     *
     * @return the offset of the range; -1 if this allocator is closed
     */
    int allocate(int bytes, Deadline deadline) throws FabricException, InterruptedIOException {
        try {
            if (!turn.tryLock(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS)) {
                throw missed(deadline);
            }
            lock.lock();
            try {
                return allocateNext(Math.ceilDiv(bytes, PAGE), deadline);
            } finally {
                lock.unlock();
                turn.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for memory of the peer");
        }
    }

    private int allocateNext(int count, Deadline deadline)
            throws FabricException, InterruptedException {
        while (!closed) {
            for (var start = used.nextClearBit(0);
                    start + count <= pages;
                    start = used.nextClearBit(start)) {
                var end = used.nextSetBit(start);
                if (end < 0 || end - start >= count) {
                    used.set(start, start + count);
                    return start * PAGE;
                }
                start = end;
            }
            var remaining = deadline.remainingNanos();
            if (remaining <= 0) {
                throw missed(deadline);
            }
            var _ = changed.awaitNanos(remaining);
        }
        return -1;
    }

    private static FabricException missed(Deadline deadline) {
        return deadline.missed("The calls in progress left no memory of the peer for bulk data");
    }

    void free(int offset, int bytes) {
        lock.lock();
        try {
            used.clear(offset / PAGE, offset / PAGE + Math.ceilDiv(bytes, PAGE));
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Wakes up all waiting callers. */
    void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
