package org.jrdma.volume.client;

import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import org.jrdma.volume.metadata.SessionRecord;

/**
 * Numbers the requests of a session that the coordinator executes once. Safe for use by multiple
 * threads.
 */
final class RequestNumbers {

    private final Semaphore pending = new Semaphore(SessionRecord.MAX_PENDING);

    /** The numbers of the requests that were not answered. Guarded by this. */
    private final TreeSet<Long> unanswered = new TreeSet<>();

    private long last;

    /** Returns the number of a new request. Waits while too many requests are not answered. */
    long begin() {
        pending.acquireUninterruptibly();
        synchronized (this) {
            unanswered.add(++last);
            return last;
        }
    }

    /** Records that a request was answered, or is not repeated. */
    void end(long number) {
        synchronized (this) {
            unanswered.remove(number);
        }
        pending.release();
    }

    /** Returns the number of the first request that may be repeated, or of the next request. */
    synchronized long firstUnanswered() {
        return unanswered.isEmpty() ? last + 1 : unanswered.first();
    }
}
