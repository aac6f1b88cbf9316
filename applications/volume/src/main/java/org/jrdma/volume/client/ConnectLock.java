package org.jrdma.volume.client;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.protocol.Operation;
import org.jspecify.annotations.Nullable;

/**
 * The lock of the thread that connects to a coordinator. Other threads wait for it up to their own
 * deadlines, and then fail with the failure of its last attempt.
 */
final class ConnectLock {

    private final ReentrantLock lock = new ReentrantLock();

    /** The failure of the last attempt; null after a success. */
    private volatile @Nullable FabricException failure;

    /**
     * Acquires the lock.
     *
     * @throws FabricException if the deadline passes, or the thread is interrupted
     */
    void lock(Deadline deadline) throws FabricException {
        try {
            if (!lock.tryLock(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS)) {
                throw RequestRetry.missed(deadline, Operation.HELLO, failure);
            }
        } catch (InterruptedException e) {
            throw RequestRetry.interrupted(e);
        }
    }

    /**
     * Acquires the lock for attempts to connect.
     *
     * @throws FabricException if the deadline passes or has passed, or the thread is interrupted
     */
    void lockForAttempts(Deadline deadline) throws FabricException {
        if (deadline.hasPassed()) {
            throw RequestRetry.missed(deadline, Operation.HELLO, failure);
        }
        lock(deadline);
    }

    /** Acquires the lock, however long the attempt in progress takes. */
    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    /** Records the result of an attempt. Called with the lock. */
    void attempted(@Nullable FabricException result) {
        failure = result;
    }
}
