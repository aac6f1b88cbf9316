package org.jrdma.verbs.queue;

import java.io.InterruptedIOException;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * A work queue of the asynchronous tier. Each slot holds the transfer that waits for its
 * completion. The posting thread holds the lock.
 */
public sealed class AsyncWorkQueue extends WorkQueue permits AsyncSharedReceives {

    /** Held by the posting thread. */
    public final ReentrantLock lock = new ReentrantLock();

    private final @Nullable PendingTransfer[] transfers;
    private final Semaphore free;
    private volatile @Nullable Exception failure;

    public AsyncWorkQueue(int capacity) {
        this(capacity, false);
    }

    public AsyncWorkQueue(int capacity, boolean carriesDatagrams) {
        this(capacity, capacity, carriesDatagrams);
    }

    /** Constructor for subclasses, which can have their own slots instead of {@code slots} ones. */
    public AsyncWorkQueue(int capacity, int slots, boolean carriesDatagrams) {
        super(capacity, carriesDatagrams);
        this.transfers = new PendingTransfer[slots];
        this.free = new Semaphore(capacity);
    }

    /** Waits for a free slot, which the caller must use or return. */
    public void awaitSlot(Deadline deadline, String queue)
            throws FabricException, InterruptedIOException {
        awaitSlots(1, deadline, "No free slot in the " + queue);
    }

    private void awaitSlots(int count, Deadline deadline, String complaint)
            throws FabricException, InterruptedIOException {
        try {
            if (!free.tryAcquire(
                    count, Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS)) {
                throw deadline.missed(complaint);
            }
            if (failure != null) {
                free.release(count); // so that the next waiting thread fails as well
                throw dispatcherStopped(failure);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting: " + complaint);
        }
    }

    /** Checks that the dispatcher still polls completions. The caller must hold the lock. */
    public void checkNotFailed() throws FabricException {
        if (failure != null) {
            throw dispatcherStopped(failure);
        }
    }

    private static FabricException dispatcherStopped(Exception failure) {
        return new FabricException("The completion dispatcher has stopped", 0, failure);
    }

    /** Waits until no request is in flight. */
    public void awaitDrained(Deadline deadline, String queue)
            throws FabricException, InterruptedIOException {
        awaitSlots(capacity(), deadline, "%s did not drain".formatted(queue));
        free.release(capacity());
    }

    public void returnSlot() {
        free.release();
    }

    /** Takes slots if that many are free. Does nothing for a negative number. */
    public boolean tryTakeSlots(int count) {
        return count <= 0 || free.tryAcquire(count);
    }

    /** Returns or adds slots. Does nothing for a negative number. */
    public void returnSlots(int count) {
        free.release(Math.max(0, count));
    }

    public void remember(long position, PendingTransfer transfer) {
        transfers[(int) (position % capacity())] = transfer;
    }

    public void forget(long position) {
        transfers[(int) (position % capacity())] = null;
    }

    /**
     * Removes the transfer of a completion; null if there is none. The caller must complete the
     * transfer before it calls {@link #returnSlot()}; otherwise a drain could end before the
     * transfer completes.
     */
    public @Nullable PendingTransfer complete(int low) {
        var position = positionOf(low);
        var slot = (int) (position % capacity());
        var transfer = transfers[slot];
        if (transfer == null) {
            return null;
        }
        transfers[slot] = null;
        release(position);
        return transfer;
    }

    /** The transfers in flight. */
    public Collection<PendingTransfer> underWay() {
        return Stream.of(transfers).filter(Objects::nonNull).toList();
    }

    /**
     * Fails all transfers and wakes up threads that wait for slots, after the native queue was
     * destroyed.
     */
    public void abandon() {
        underWay().forEach(PendingTransfer::abandon);
        free.release(Integer.MAX_VALUE / 2);
    }

    /** Fails all transfers and rejects new requests: the dispatcher has stopped. */
    public void fail(Exception cause) {
        lock.lock();
        try {
            failure = cause;
            underWay().forEach(transfer -> transfer.fail(cause));
        } finally {
            lock.unlock();
        }
        free.release(capacity());
    }
}
