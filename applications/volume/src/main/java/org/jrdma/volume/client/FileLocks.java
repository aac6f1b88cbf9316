package org.jrdma.volume.client;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.ByteLock;
import org.jrdma.volume.protocol.Operation;

/** The locks of this client on the bytes of a file. Safe for use by multiple threads. */
final class FileLocks {

    private final ClientSession session;
    private final long file;

    /** Guarded by this object. */
    private final List<ByteLock> locks = new ArrayList<>();

    FileLocks(ClientSession session, long file) {
        this.session = session;
        this.file = file;
    }

    /** Locks a range of bytes. Returns false if another owner has a conflicting lock. */
    boolean lock(ByteLock lock, boolean isWaiting) throws FabricException {
        while (true) {
            var term = session.term();
            try {
                var _ =
                        session.call(
                                Operation.LOCK,
                                encoder -> {
                                    encoder.writeLong(file);
                                    lock.encode(encoder);
                                    encoder.writeBoolean(isWaiting);
                                });
            } catch (VolumeException e) {
                if (e.failure() == Failure.LOCKED) {
                    return false;
                }
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

    /** Unlocks a range that was locked. */
    void unlock(ByteLock lock) throws FabricException {
        boolean wasHeld;
        synchronized (this) {
            wasHeld = locks.remove(lock);
        }
        if (wasHeld) {
            var _ =
                    session.call(
                            Operation.UNLOCK,
                            encoder -> {
                                encoder.writeLong(file);
                                lock.encode(encoder);
                            });
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
