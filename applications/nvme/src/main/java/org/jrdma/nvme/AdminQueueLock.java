package org.jrdma.nvme;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;

/** Lets one thread at a time use an admin queue, or the connection to a manager. */
final class AdminQueueLock {

    /** Fair, because a thread that executes many commands would otherwise lock out all others. */
    private final ReentrantLock lock = new ReentrantLock(true);

    private final Object controller;

    /**
     * Creates a lock.
     *
     * @param controller the controller or the manager, for messages
     */
    AdminQueueLock(Object controller) {
        this.controller = controller;
    }

    /**
     * Waits for the lock.
     *
     * @param name the command that will be executed, for messages
     * @throws NvmeException if the thread is interrupted, except during a close
     */
    void lock(String name, Deadline deadline) throws FabricException {
        var isLocked = false;
        while (!isLocked) {
            try {
                isLocked = lock.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
                if (!isLocked) {
                    throw deadline.missed("%s did not start %s".formatted(controller, name));
                }
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                if (ThreadInterruptDeferral.endWait()) {
                    throw interrupted(name);
                }
            }
        }
    }

    /** Returns false if another thread has the lock. */
    boolean tryLock() {
        return lock.tryLock();
    }

    void unlock() {
        lock.unlock();
    }

    NvmeException interrupted(String name) {
        return new NvmeException(
                "Interrupted while waiting for %s of %s".formatted(name, controller));
    }
}
