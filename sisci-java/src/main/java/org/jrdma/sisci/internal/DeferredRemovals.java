package org.jrdma.sisci.internal;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.Deadline;
import org.jrdma.sisci.internal.RemovalRetry.Removal;
import org.jrdma.sisci.model.SisciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The failed removals of the objects of one node. A removal fails, for example, because a peer
 * still uses the object. The close of the node retries these removals, because the library cannot
 * close a node that has objects. Safe for use by multiple threads.
 */
public final class DeferredRemovals {

    private static final Logger LOG = LoggerFactory.getLogger(DeferredRemovals.class);

    private record Deferred(Removal removal, Removal forced) {}

    private final List<Deferred> oldestFirst = new ArrayList<>();

    synchronized void add(Removal removal, Removal forced) {
        oldestFirst.add(new Deferred(removal, forced));
    }

    /**
     * Retries all removals in the order in which they failed. Dependents precede their owners,
     * because they were closed first. An object that is still busy is removed by force, with
     * retries until the deadline.
     */
    public void run(Deadline deadline) {
        for (var deferred : drain()) {
            try {
                deferred.removal.remove();
            } catch (SisciException e) {
                if (e.error().isBusy()) {
                    force(deadline, deferred);
                } else {
                    LOG.debug("A deferred removal failed: {}", e.getMessage());
                }
            }
        }
    }

    private static void force(Deadline deadline, Deferred deferred) {
        try {
            RemovalRetry.retry(deadline, deferred.forced);
        } catch (SisciException e) {
            LOG.warn("A deferred removal by force failed: {}", e.getMessage());
        }
    }

    private synchronized List<Deferred> drain() {
        var drained = List.copyOf(oldestFirst);
        oldestFirst.clear();
        return drained;
    }
}
