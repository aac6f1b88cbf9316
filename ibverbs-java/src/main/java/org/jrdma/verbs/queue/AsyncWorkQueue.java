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
 * One direction of a queue pair whose completions the SDK polls: each slot holds the transfer that
 * waits for its completion. The thread that posts holds the lock.
 */
public sealed class AsyncWorkQueue extends WorkQueue permits AsyncSharedReceives {

    /** Held by the thread that posts. */
    public final ReentrantLock lock = new ReentrantLock();

    private final @Nullable PendingTransfer[] transfers;
    private final Semaphore free;
    private volatile @Nullable Exception failure;

    public AsyncWorkQueue(int capacity) {
        this(capacity, false);
    }

    public AsyncWorkQueue(int capacity, boolean isOfDatagrams) {
        this(capacity, capacity, isOfDatagrams);
    }

    /** With so many slots here; others keep theirs themselves. */
    public AsyncWorkQueue(int capacity, int slots, boolean isOfDatagrams) {
        super(capacity, isOfDatagrams);
        this.transfers = new PendingTransfer[slots];
        this.free = new Semaphore(capacity);
    }

    /** Waits for a free slot, which the caller then fills or gives back. */
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
                free.release(count); // for the next who waits, to be told the same
                throw notHeardOf(failure);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting: " + complaint);
        }
    }

    /** Under the lock: refuses a request whose completion nobody would hear of. */
    public void refuseIfFailed() throws FabricException {
        if (failure != null) {
            throw notHeardOf(failure);
        }
    }

    private static FabricException notHeardOf(Exception failure) {
        return new FabricException("Completions are no longer heard of", 0, failure);
    }

    /** Waits until nothing is under way. */
    public void awaitAllFree(Deadline deadline, String queue)
            throws FabricException, InterruptedIOException {
        awaitSlots(capacity(), deadline, "%s did not drain".formatted(queue));
        free.release(capacity());
    }

    public void returnSlot() {
        free.release();
    }

    /** Takes slots away, if so many are free; none for a negative number. */
    public boolean tryTakeSlots(int count) {
        return count <= 0 || free.tryAcquire(count);
    }

    /** Adds slots; none for a negative number. */
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
     * The transfer of a completion, or null if nobody waits for it. When the transfer has been
     * told, {@link #returnSlot()} frees its slot: not before, or a drain would end with one untold.
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

    /** What has not been completed. */
    public Collection<PendingTransfer> underWay() {
        return Stream.of(transfers).filter(Objects::nonNull).toList();
    }

    /**
     * Ends what will not complete any more, and the waits for slots. For when the queue pair is
     * gone.
     */
    public void abandon() {
        underWay().forEach(PendingTransfer::abandon);
        free.release(Integer.MAX_VALUE / 2);
    }

    /** Ends what is under way and refuses what comes: completions are no longer heard of. */
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
