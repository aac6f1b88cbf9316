package org.jrdma.nvme.soft;

import java.io.IOException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jrdma.nvme.model.IdentifyNamespace;
import org.jrdma.nvme.model.Status;

/**
 * A namespace: its blocks and its reservations. Its lock is held during each I/O command, so that a
 * reservation takes effect between two commands of all controllers.
 */
final class Namespace {

    /** All types of reservations, and the handling of keys of revision 1.3. */
    private static final int RESERVATION_CAPABILITIES = 0xfe;

    private final int id;
    private final BlockStorage storage;
    private final Reservations reservations;

    /** Fair, because a busy controller would otherwise lock out all others. */
    private final ReadWriteLock lock = new ReentrantReadWriteLock(true);

    /** True if the program has removed this namespace. Guarded by the lock. */
    private boolean removed;

    Namespace(int id, BlockStorage storage, Reservations.Listener listener) {
        this.id = id;
        this.storage = storage;
        this.reservations = new Reservations(listener);
    }

    int id() {
        return id;
    }

    /**
     * Returns the lock of a command.
     *
     * @param isShared true if other commands that share the lock can run at the same time
     */
    Lock lock(boolean isShared) {
        return isShared ? lock.readLock() : lock.writeLock();
    }

    /**
     * Marks this namespace as removed, after the commands that access it have ended. Commands that
     * have found this namespace before, and wait for its lock, find the mark.
     *
     * @throws IllegalArgumentException if this namespace was removed before
     */
    void remove() {
        lock.writeLock().lock();
        try {
            checkNotRemoved();
            removed = true;
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Throws an exception if this namespace was removed. The thread has a lock. */
    void requirePresent() throws CommandException {
        CommandException.require(!removed, Status.INVALID_NAMESPACE);
    }

    /**
     * Changes the number of blocks between two commands.
     *
     * @throws IllegalArgumentException if this namespace was removed, or the number is invalid
     * @throws UnsupportedOperationException if the storage has a fixed size
     */
    void resize(long blocks) throws IOException {
        lock.writeLock().lock();
        try {
            checkNotRemoved();
            storage.resize(blocks);
        } finally {
            lock.writeLock().unlock();
        }
    }

    private void checkNotRemoved() {
        if (removed) {
            throw new IllegalArgumentException("The namespace %d was removed".formatted(id));
        }
    }

    /** Makes all blocks durable, unless this namespace was removed. */
    void flush() throws CommandException {
        lock.readLock().lock();
        try {
            if (!removed) {
                var _ = storage.force();
            }
        } finally {
            lock.readLock().unlock();
        }
    }

    BlockStorage storage() {
        return storage;
    }

    Reservations reservations() {
        return reservations;
    }

    /** Allows another controller to have the id of a controller that has ended. */
    void controllerEnded(int controllerId) {
        lock.writeLock().lock();
        try {
            reservations.controllerEnded(controllerId);
        } finally {
            lock.writeLock().unlock();
        }
    }

    boolean hasRegistrants(boolean isExtended) {
        lock.readLock().lock();
        try {
            return reservations.hasRegistrants(isExtended);
        } finally {
            lock.readLock().unlock();
        }
    }

    IdentifyNamespace identify() {
        return new IdentifyNamespace(
                storage.blocks(), storage.blockShift(), 0, true, RESERVATION_CAPABILITIES, true);
    }
}
