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
 * A work queue of the asynchronous API. Each slot contains the transfer of the request in this
 * slot. A thread must hold the lock while it posts.
 */
public sealed class AsyncWorkQueueSlots extends WorkQueueSlots permits AsyncSharedReceiveSlots {

    /** The lock that a thread holds while it posts to this queue. */
    public final ReentrantLock lock = new ReentrantLock();

    private final @Nullable PendingTransfer[] transfers;
    private final Semaphore free;
    private volatile @Nullable Exception failure;

    public AsyncWorkQueueSlots(int capacity) {
        this(capacity, false);
    }

    public AsyncWorkQueueSlots(int capacity, boolean carriesDatagrams) {
        this(capacity, capacity, carriesDatagrams);
    }

    /**
     * Creates a work queue.
     *
     * @param slots the number of slots; 0 for a subclass that stores the transfers itself
     */
    public AsyncWorkQueueSlots(int capacity, int slots, boolean carriesDatagrams) {
        super(capacity, carriesDatagrams);
        this.transfers = new PendingTransfer[slots];
        this.free = new Semaphore(capacity);
    }

    /**
     * Waits for a free slot and takes it. The caller must use the slot for a request or return it
     * by {@link #returnSlot()}.
     *
     * @param queue the name of the queue in messages
     */
    public void awaitSlot(Deadline deadline, String queue)
            throws FabricException, InterruptedIOException {
        if (!Thread.currentThread().isInterrupted() && free.tryAcquire()) {
            checkNotFailed(1);
        } else {
            awaitSlots(1, deadline, "No free slot in the " + queue);
        }
    }

    private void awaitSlots(int count, Deadline deadline, String problem)
            throws FabricException, InterruptedIOException {
        try {
            if (!free.tryAcquire(
                    count, Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS)) {
                throw deadline.missed(problem);
            }
            checkNotFailed(count);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("The thread was interrupted. " + problem + ".");
        }
    }

    /** Returns the slots that were taken and throws an exception if the dispatcher has stopped. */
    private void checkNotFailed(int taken) throws FabricException {
        if (failure != null) {
            free.release(taken); // for the next waiting thread, which also fails
            throw dispatcherStopped(failure);
        }
    }

    /**
     * Throws an exception if the completion dispatcher has stopped. The caller must hold the lock.
     */
    public void checkNotFailed() throws FabricException {
        if (failure != null) {
            throw dispatcherStopped(failure);
        }
    }

    private static FabricException dispatcherStopped(Exception failure) {
        return new FabricException("The completion dispatcher has stopped", 0, failure);
    }

    /**
     * Waits until no request is in flight.
     *
     * @param queue the name of the queue in messages
     */
    public void awaitDrained(Deadline deadline, String queue)
            throws FabricException, InterruptedIOException {
        awaitSlots(capacity(), deadline, "%s did not drain".formatted(queue));
        free.release(capacity());
    }

    public void returnSlot() {
        free.release();
    }

    /**
     * Takes slots if {@code count} slots are free, and returns true. Otherwise returns false and
     * takes none. Returns true if the count is zero or negative.
     */
    public boolean tryTakeSlots(int count) {
        return count <= 0 || free.tryAcquire(count);
    }

    /**
     * Frees slots that were taken, or adds slots to a queue that grows. Does nothing if the count
     * is zero or negative.
     */
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
     * Removes and returns the transfer of a completed request; null if no transfer has its
     * position. The caller must complete the transfer before it calls {@link #returnSlot()}.
     * Otherwise {@link #awaitDrained} could return before the transfer completes.
     *
     * @param low the lower 32 bits of the request's position
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

    /** Returns the transfers whose requests are in flight. */
    public Collection<PendingTransfer> inFlight() {
        return Stream.of(transfers).filter(Objects::nonNull).toList();
    }

    /**
     * Fails all transfers in flight and wakes up threads that wait for slots. Called after the
     * native queue has been destroyed.
     */
    public void abandon() {
        inFlight().forEach(PendingTransfer::abandon);
        free.release(Integer.MAX_VALUE / 2);
    }

    /**
     * Fails all transfers in flight and rejects new requests. Called when the completion dispatcher
     * has stopped.
     */
    public void fail(Exception cause) {
        lock.lock();
        try {
            failure = cause;
            inFlight().forEach(transfer -> transfer.fail(cause));
        } finally {
            lock.unlock();
        }
        free.release(capacity());
    }
}
