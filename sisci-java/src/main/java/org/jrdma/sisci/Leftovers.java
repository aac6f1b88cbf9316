package org.jrdma.sisci;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jrdma.ffi.Deadline;
import org.jrdma.sisci.Patience.Undo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What was made from a node and could not be undone when it was closed, since a peer still used it.
 * The node cannot be closed with it, so it tries again. Safe for use by several threads.
 */
final class Leftovers {

    private static final Logger LOG = LoggerFactory.getLogger(Leftovers.class);

    private record Leftover(Undo undo, Undo byForce) {}

    private final Deque<Leftover> newestFirst = new ArrayDeque<>();

    synchronized void add(Undo undo, Undo byForce) {
        newestFirst.addFirst(new Leftover(undo, byForce));
    }

    /** Undoes all, the newest first: by force what is still in use. */
    void undo(Deadline deadline) {
        for (var leftover : taken()) {
            try {
                leftover.undo.undo();
            } catch (SisciException e) {
                if (e.error().isBusy()) {
                    force(deadline, leftover);
                } else {
                    LOG.debug("Not undone: {}", e.getMessage());
                }
            }
        }
    }

    private static void force(Deadline deadline, Leftover leftover) {
        try {
            Patience.retry(deadline, leftover.byForce);
        } catch (SisciException e) {
            LOG.warn("Not even by force: {}", e.getMessage());
        }
    }

    private synchronized List<Leftover> taken() {
        var taken = List.copyOf(newestFirst);
        newestFirst.clear();
        return taken;
    }
}
