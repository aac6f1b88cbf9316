package org.jrdma.volume.client;

import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;

/**
 * The direct writes that have failed, and that the drive may execute later, for example when the
 * link to it works again. They must be prevented before another client can write to their blocks.
 * Safe for use by multiple threads.
 */
final class LateWrites {

    private final ClientSession session;
    private final AtomicLong failed = new AtomicLong();

    /** The value of {@link #failed} up to which the writes were prevented. */
    private volatile long prevented;

    LateWrites(ClientSession session) {
        this.session = session;
    }

    /** Records a write that has failed. */
    void failed() {
        failed.incrementAndGet();
    }

    /**
     * Prevents the writes that have failed before from taking effect later. According to {@link
     * Drive}, a failed write takes no effect if the drive executes a later access.
     *
     * @param works true if the drive works according to this client
     * @throws FabricException if the drive does not work, and the coordinator does not exclude this
     *     client from it
     */
    void prevent(Drive drive, boolean works) throws FabricException {
        if (failed.get() == prevented) {
            return;
        }
        synchronized (this) {
            var before = failed.get();
            if (before != prevented) {
                if (!works || !flushes(drive)) {
                    session.excludeFromDrive();
                }
                prevented = before;
            }
        }
    }

    /** Accesses all drives of a group. */
    private static boolean flushes(Drive drive) {
        try {
            drive.flush();
            return true;
        } catch (FabricException | IllegalStateException _) {
            return false;
        }
    }
}
