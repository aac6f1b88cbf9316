package org.jrdma.volume.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.ByteLock;
import org.jrdma.volume.protocol.Operation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The locks of this client on the bytes of a file. Safe for use by multiple threads. */
final class FileLocks {

    private static final Logger LOG = LoggerFactory.getLogger(FileLocks.class);

    private final ClientSession session;
    private final long file;

    /** Guarded by this object. */
    private final List<ByteLock> locks = new ArrayList<>();

    /**
     * The locks that the coordinator must release: it may have granted them, although this client
     * does not hold them. Their order is guarded by {@link #releasing}.
     */
    private final Queue<ByteLock> unreleased = new ConcurrentLinkedQueue<>();

    private final ReentrantLock releasing = new ReentrantLock();

    FileLocks(ClientSession session, long file) {
        this.session = session;
        this.file = file;
    }

    /**
     * Locks a range of bytes.
     *
     * @param check throws an unchecked exception to end the wait for other locks
     * @return false if another owner has a conflicting lock
     */
    boolean lock(ByteLock lock, boolean isWaiting, Runnable check) throws FabricException {
        release();
        while (true) {
            var term = session.term();
            try {
                var _ =
                        session.call(
                                Operation.LOCK,
                                encoder -> {
                                    check.run(); // the session repeats the request while it waits
                                    encoder.writeLong(file);
                                    lock.encode(encoder);
                                    encoder.writeBoolean(isWaiting);
                                });
            } catch (FabricException | RuntimeException e) {
                if (e instanceof VolumeException known && known.failure() == Failure.LOCKED) {
                    return false;
                }
                unreleased.add(lock);
                Thread.ofVirtual().name("volume-unlock-" + file).start(this::releaseLater);
                throw e;
            }
            synchronized (this) {
                if (session.term() == term) { // otherwise, the new coordinator does not know it
                    locks.add(lock);
                    return true;
                }
            }
        }
    }

    /**
     * Unlocks ranges that were locked. If that fails, this client no longer holds the locks, and
     * {@link #release()} repeats it.
     */
    void unlock(List<ByteLock> ended) throws FabricException {
        synchronized (this) {
            for (var lock : ended) {
                if (locks.remove(lock)) {
                    unreleased.add(lock);
                }
            }
        }
        release();
    }

    /**
     * Lets the coordinator release the locks that this client does not hold. A request for a lock
     * that has failed is not executed afterwards, because this client has connected again.
     */
    void release() throws FabricException {
        if (unreleased.isEmpty()) {
            return;
        }
        releasing.lock(); // a later lock of the same bytes must not be released
        try {
            for (var next = unreleased.peek(); next != null; next = unreleased.peek()) {
                var lock = next;
                session.call(
                                Operation.UNLOCK,
                                encoder -> {
                                    encoder.writeLong(file);
                                    lock.encode(encoder);
                                })
                        .end();
                var _ = unreleased.remove();
            }
        } finally {
            releasing.unlock();
        }
    }

    /** The thread that has requested the lock may be interrupted, and must not wait. */
    private void releaseLater() {
        try {
            release();
        } catch (FabricException | IllegalStateException e) {
            LOG.debug("Locks of file {} are released later: {}", file, e.getMessage());
        }
    }

    /** Returns the locks that are held. */
    synchronized List<ByteLock> held() {
        return List.copyOf(locks);
    }

    /** Reports that the session has ended. Returns true if a lock was held. */
    synchronized boolean sessionLost() {
        var wereHeld = !locks.isEmpty();
        locks.clear();
        return wereHeld;
    }

    /**
     * Returns the exception for accesses after locks were lost. Without it, a program would
     * continue to read and write, although another client may have locked the same bytes since.
     */
    static VolumeException lost(String name) {
        return new VolumeException(
                Failure.SESSION_LOST,
                "The session ended, and with it the locks on %s. Close all handles of the file, and open it again."
                        .formatted(name));
    }
}
