package org.jrdma.volume.coordinator;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.LeaseMode;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The leases of all files. A file has one write lease, or any number of read leases. Accessed with
 * the lock of the {@link JournaledMetadata}, which waits release.
 *
 * <p>A request that conflicts with leases recalls them. The requests for one file are served in the
 * order of their arrival.
 */
final class LeaseTable {

    private static final Logger LOG = LoggerFactory.getLogger(LeaseTable.class);
    private static final long RETRY_NANOS = 50_000_000;

    /** Ends the session of a client that does not return a lease. */
    @FunctionalInterface
    interface SessionEnder {
        /** Starts to end a session. */
        void end(Session session, String reason);
    }

    /** Receives the end of write leases. */
    @FunctionalInterface
    interface WriteListener {
        /** Reports that a session can no longer write to a file. */
        void writeEnded(Session session, long file);
    }

    private static final class Lease {

        private final Session session;
        private LeaseMode mode;
        private final long number;

        /** The mode that a pending recall leaves; null if no recall is pending. */
        private @Nullable LeaseMode recalledTo;

        private long recalledSince;
        private long nextRecall;

        /** The number of recalls that were answered. */
        private long answers;

        private Lease(Session session, LeaseMode mode, long number) {
            this.session = session;
            this.mode = mode;
            this.number = number;
        }
    }

    private static final class FileLeases {
        private final List<Lease> leases = new ArrayList<>();
        private final ArrayDeque<Object> waiting = new ArrayDeque<>();

        private @Nullable Lease of(Session session) {
            for (var lease : leases) {
                if (lease.session == session) {
                    return lease;
                }
            }
            return null;
        }
    }

    private final JournaledMetadata state;
    private final Duration recallTimeout;
    private final SessionEnder ender;
    private final WriteListener listener;
    private final Map<Long, FileLeases> files = new HashMap<>();
    private long lastNumber;

    /**
     * Creates a table without leases.
     *
     * @param firstNumber the number of the first grant
     * @param recallTimeout the time after which a session that has not returned a lease is ended
     */
    LeaseTable(
            JournaledMetadata state,
            long firstNumber,
            Duration recallTimeout,
            SessionEnder ender,
            WriteListener listener) {
        this.state = state;
        this.lastNumber = firstNumber;
        this.recallTimeout = recallTimeout;
        this.ender = ender;
        this.listener = listener;
    }

    /**
     * Grants a lease, after conflicting leases were returned.
     *
     * @return the number of the grant; empty if conflicting leases were not returned in time, so
     *     that the client must repeat the request
     * @throws VolumeException if the session ends
     */
    Optional<Long> acquire(Session session, long file, LeaseMode mode, long waitNanos)
            throws VolumeException, InterruptedException {
        var leases = files.computeIfAbsent(file, _ -> new FileLeases());
        var own = leases.of(session);
        if (own != null && own.mode.includes(mode)) {
            return Optional.of(renumber(leases, own));
        }
        if (own != null) {
            leases.leases.remove(own); // otherwise, two readers that want to write would deadlock
            state.changed.signalAll();
        }
        var ticket = new Object();
        leases.waiting.add(ticket);
        try {
            var remaining = waitNanos;
            while (true) {
                session.checkActive();
                if (leases.waiting.peek() == ticket && recallConflicts(leases, file, mode)) {
                    return Optional.of(grant(leases, session, mode));
                }
                if (remaining <= 0) {
                    return Optional.empty();
                }
                var pause = Math.min(remaining, RETRY_NANOS);
                remaining -= pause - Math.max(0, state.changed.awaitNanos(pause));
            }
        } finally {
            leases.waiting.remove(ticket);
            removeIfUnused(file);
            state.changed.signalAll();
        }
    }

    private long renumber(FileLeases leases, Lease lease) {
        leases.leases.remove(lease);
        return grant(leases, lease.session, lease.mode);
    }

    private long grant(FileLeases leases, Session session, LeaseMode mode) {
        var lease = new Lease(session, mode, ++lastNumber);
        leases.leases.add(lease);
        return lease.number;
    }

    /** Returns true if no lease conflicts. Otherwise, recalls the conflicting leases. */
    private boolean recallConflicts(FileLeases leases, long file, LeaseMode mode) {
        var keep = mode == LeaseMode.WRITE ? LeaseMode.NONE : LeaseMode.READ;
        var isFree = true;
        for (var lease : leases.leases) {
            if (!keep.includes(lease.mode)) {
                isFree = false;
                recall(file, lease, keep);
            }
        }
        return isFree;
    }

    private void recall(long file, Lease lease, LeaseMode keep) {
        var now = System.nanoTime();
        if (lease.recalledTo != null
                || (lease.nextRecall != 0 && now - lease.nextRecall < 0)
                || !lease.session.isActive()) {
            return;
        }
        if (lease.recalledSince == 0) {
            lease.recalledSince = now;
        } else if (now - lease.recalledSince > recallTimeout.toNanos()) {
            ender.end(lease.session, "it did not return a lease in time");
            return;
        }
        lease.recalledTo = keep;
        var link = lease.session.link;
        Thread.ofVirtual()
                .start(() -> {
                    var isAnswered = false;
                    try {
                        var request =
                                RequestHeader.of(Operation.RECALL, lease.session.id).encoder();
                        request.writeLong(file);
                        request.writeLong(lease.number);
                        request.writeEnum(keep);
                        if (link != null) {
                            var reply =
                                    link.call(
                                            java.nio.ByteBuffer.wrap(request.bytes()),
                                            recallTimeout);
                            var _ = ReplyEncoding.decode(reply);
                            isAnswered = true;
                        }
                    } catch (FabricException e) {
                        LOG.debug("Recall from {} failed: {}", lease.session, e.toString());
                    } finally {
                        answered(file, lease, keep, isAnswered);
                    }
                });
    }

    private void answered(long file, Lease lease, LeaseMode keep, boolean isAnswered) {
        state.lock.lock();
        try {
            lease.recalledTo = null;
            if (isAnswered) {
                lease.recalledSince = 0;
                lease.nextRecall = 0;
                lease.answers++;
                reduce(file, lease, keep);
            } else {
                lease.nextRecall = System.nanoTime() + RETRY_NANOS;
            }
            state.changed.signalAll();
        } finally {
            state.lock.unlock();
        }
    }

    /** Reduces a lease, unless the client has given it up and acquired another one meanwhile. */
    private void reduce(long file, Lease lease, LeaseMode keep) {
        var leases = files.get(file);
        if (leases == null || leases.of(lease.session) != lease) {
            return;
        }
        if (!keep.includes(lease.mode)) {
            if (lease.mode == LeaseMode.WRITE) {
                listener.writeEnded(lease.session, file);
            }
            lease.mode = keep;
        }
        if (lease.mode == LeaseMode.NONE) {
            leases.leases.remove(lease);
            removeIfUnused(file);
        }
    }

    /**
     * Waits until what another session has written is committed.
     *
     * @return false if that session has not committed in time, so that the client must repeat the
     *     request
     */
    boolean awaitCommit(Session session, long file, long waitNanos) throws InterruptedException {
        var remaining = waitNanos;
        @Nullable Lease awaited = null;
        var answersBefore = 0L;
        while (true) {
            var writer = writer(file);
            if (writer == null
                    || writer.session == session
                    || (writer == awaited && writer.answers > answersBefore)) {
                return true;
            }
            if (writer != awaited && writer.recalledTo == null) {
                awaited = writer; // a recall that is already pending may have read the old state
                answersBefore = writer.answers;
            }
            recall(file, writer, LeaseMode.WRITE);
            if (remaining <= 0) {
                return false;
            }
            var pause = Math.min(remaining, RETRY_NANOS);
            remaining -= pause - Math.max(0, state.changed.awaitNanos(pause));
        }
    }

    private @Nullable Lease writer(long file) {
        var leases = files.get(file);
        if (leases != null) {
            for (var lease : leases.leases) {
                if (lease.mode == LeaseMode.WRITE) {
                    return lease;
                }
            }
        }
        return null;
    }

    /**
     * Adds a lease that a client had before a takeover.
     *
     * @return false if it conflicts, or is not from an earlier epoch
     */
    boolean reclaim(Session session, long file, LeaseMode mode, long number) {
        if (number > lastNumber) {
            return false;
        }
        var leases = files.computeIfAbsent(file, _ -> new FileLeases());
        var own = leases.of(session);
        if (own != null) {
            return own.mode.includes(mode);
        }
        for (var lease : leases.leases) {
            if (mode == LeaseMode.WRITE || lease.mode == LeaseMode.WRITE) {
                removeIfUnused(file);
                return false;
            }
        }
        leases.leases.add(new Lease(session, mode, number));
        return true;
    }

    /** Returns true if a session has a write lease. */
    boolean isWriter(Session session, long file) {
        var writer = writer(file);
        return writer != null && writer.session == session;
    }

    /** Returns true if a session has a lease. */
    boolean isHolder(Session session, long file) {
        var leases = files.get(file);
        return leases != null && leases.of(session) != null;
    }

    /** Removes the lease of a session on a file. */
    void remove(Session session, long file) {
        var leases = files.get(file);
        if (leases != null) {
            leases.leases.removeIf(lease -> lease.session == session);
            removeIfUnused(file);
        }
        state.changed.signalAll();
    }

    /** Removes all leases of a session. */
    void removeAll(Session session) {
        List.copyOf(files.keySet()).forEach(file -> remove(session, file));
    }

    private void removeIfUnused(long file) {
        var leases = files.get(file);
        if (leases != null && leases.leases.isEmpty() && leases.waiting.isEmpty()) {
            files.remove(file);
        }
    }
}
