package org.jrdma.volume.coordinator;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.metadata.Change;
import org.jrdma.volume.metadata.FreeSpace;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.metadata.Inode;
import org.jrdma.volume.metadata.Namespace;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.ByteLock;
import org.jrdma.volume.protocol.LeaseMode;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.PeerConnection;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sessions of clients. Accessed with the lock of the {@link JournaledMetadata}.
 *
 * <p>A session that does not send a heartbeat in time is ended: its requests are refused, the data
 * servers stop to serve it, and its node is excluded from the drives. Only then its leases and
 * locks are removed. After a takeover, the clients report their leases. Until all sessions of the
 * previous epoch have done so or were ended, the coordinator executes no other requests.
 */
final class SessionTable {

    private static final Logger LOG = LoggerFactory.getLogger(SessionTable.class);
    private static final int MAX_SESSIONS = 10_000;
    private static final Duration RETRY_PAUSE = Duration.ofMillis(100);

    private final JournaledMetadata state;
    private final LeaseTable leases;
    private final LockTable locks = new LockTable();
    private final Fence fence;
    private final Duration timeout;
    private final long epoch;
    private final Consumer<String> roleLost;
    private final Map<Long, Session> sessions = new LinkedHashMap<>();
    private long lastSession;
    private boolean isClosed;
    private long lastCheck = System.nanoTime();

    /**
     * @param roleLost ends the coordinator, for a reason. Called without the lock
     */
    SessionTable(
            JournaledMetadata state,
            Fence fence,
            Duration timeout,
            long epoch,
            Consumer<String> roleLost) {
        this.state = state;
        this.fence = fence;
        this.timeout = timeout;
        this.epoch = epoch;
        this.roleLost = roleLost;
        this.lastSession = epoch << 24;
        this.leases =
                new LeaseTable(
                        state,
                        epoch << 32,
                        timeout.multipliedBy(3),
                        this::end,
                        this::releaseReserved);
        for (var record : state.namespace.sessions().values()) {
            sessions.put(record.id(), new Session(record, Session.State.UNCLAIMED));
            lastSession = Math.max(lastSession, record.id());
        }
    }

    LeaseTable leases() {
        return leases;
    }

    LockTable locks() {
        return locks;
    }

    boolean isEmpty() {
        return sessions.isEmpty();
    }

    /** Returns true if no session of the previous epoch is missing. */
    boolean isReady() {
        return !isClosed
                && sessions.values().stream()
                        .noneMatch(session -> session.state == Session.State.UNCLAIMED);
    }

    /**
     * Returns an active session.
     *
     * @throws VolumeException if the session has ended
     */
    Session active(long id) throws VolumeException {
        var session = known(id);
        session.checkActive();
        return session;
    }

    /**
     * Returns an active session.
     *
     * @param link the connection that the request came from
     * @throws VolumeException if the session has ended, or its client has connected again since:
     *     the client repeats its requests, so that a late execution would undo a later request
     */
    Session active(long id, PeerConnection link) throws VolumeException {
        var session = active(id);
        session.checkLink(link);
        return session;
    }

    /**
     * Checks that a data server may serve a session, also while this coordinator waits for the
     * clients of the previous epoch. If the session ends later, the coordinator revokes it at the
     * data server.
     */
    void checkServable(long server, PeerConnection link, long id) throws VolumeException {
        known(server).checkLink(link);
        var _ = known(id);
    }

    private Session known(long id) throws VolumeException {
        var session = sessions.get(id);
        if (session == null || session.isEnding) {
            throw Session.lost(id);
        }
        return session;
    }

    /** Opens a session, or continues one. */
    Session hello(
            long id, @Nullable PeerConnection link, long key, String name, List<String> addresses)
            throws FabricException {
        Session session;
        if (id != 0) {
            session = known(id);
        } else {
            state.checkMetadataSpace();
            if (sessions.size() >= MAX_SESSIONS) {
                throw new VolumeException(
                        Failure.NO_SPACE,
                        "The volume has %d sessions, which is the limit".formatted(MAX_SESSIONS));
            }
            var next = ++lastSession;
            state.execute(new Change.OpenSession(next, key, name));
            var record = state.namespace.sessions().get(next);
            session = new Session(java.util.Objects.requireNonNull(record), Session.State.ACTIVE);
            sessions.put(next, session);
            LOG.info("Opened {}", session);
        }
        session.link = link;
        session.addresses = addresses;
        session.lastHeartbeat = System.nanoTime();
        state.changed.signalAll();
        return session;
    }

    /** Adds the state of a file that a client reports after a takeover. */
    void reclaim(
            long id,
            long file,
            LeaseMode mode,
            long number,
            List<Range> reserved,
            List<ByteLock> held)
            throws VolumeException {
        var session = known(id);
        var inode = state.namespace.inode(file);
        session.open(file);
        if (mode != LeaseMode.NONE && !leases.reclaim(session, file, mode, number)) {
            throw new VolumeException(
                    "The lease of %s on file %d conflicts with another".formatted(session, file));
        }
        for (var lock : held) {
            if (!locks.tryLock(session, file, lock)) {
                throw new VolumeException(
                        "%s of %s on file %d conflicts with another"
                                .formatted(lock, session, file));
            }
        }
        for (var range : reserved) {
            reclaim(session, inode, range);
        }
    }

    private void reclaim(Session session, Inode inode, Range range) throws VolumeException {
        var own =
                session.reserved.computeIfAbsent(
                        inode.attributes().id(), _ -> new FreeSpace(new Range(0, 0)));
        for (var part : withoutExtents(inode, range)) {
            if (!own.isFree(part)) {
                state.available.take(part);
                own.release(part);
            }
        }
    }

    /** Returns the parts of a range that the file does not use: a commit may have used others. */
    private static List<Range> withoutExtents(Inode inode, Range range) {
        var parts = new ArrayList<Range>();
        var start = range.block();
        var used =
                inode.extents().extents().stream()
                        .sorted(
                                java.util.Comparator.comparingLong(
                                        org.jrdma.volume.metadata.FileExtent::driveBlock))
                        .toList();
        for (var extent : used) {
            if (extent.endDriveBlock() > start && extent.driveBlock() < range.end()) {
                if (extent.driveBlock() > start) {
                    parts.add(new Range(start, extent.driveBlock() - start));
                }
                start = extent.endDriveBlock();
            }
        }
        if (start < range.end()) {
            parts.add(new Range(start, range.end() - start));
        }
        return parts;
    }

    /** Ends the reports of a client after a takeover. */
    void reclaimed(long id) throws VolumeException {
        var session = known(id);
        if (session.state == Session.State.UNCLAIMED) {
            session.state = Session.State.ACTIVE;
            LOG.info("Continued {} in epoch {}", session, epoch);
        }
        state.changed.signalAll();
    }

    /**
     * Excludes the client of a session from the drive, because it uses another path and an earlier
     * write may be pending at the drive. The session continues. Releases the lock meanwhile, so
     * that a slow drive does not delay other requests.
     */
    byte[] excludeFromDrive(Session session) throws FabricException {
        state.lock.unlock();
        try {
            var _ = fence.exclude(session.key); // if no key is registered, the drive refuses writes
        } finally {
            state.lock.lock();
        }
        return ReplyEncoding.empty();
    }

    /** Extends a session, and returns the addresses of the data servers. */
    List<List<String>> heartbeat(long id, PeerConnection link, ClientReport reported)
            throws VolumeException {
        var session = active(id, link);
        session.lastHeartbeat = System.nanoTime();
        session.reported = reported;
        return sessions.values().stream()
                .filter(Session::isActive)
                .map(each -> each.addresses)
                .filter(addresses -> !addresses.isEmpty())
                .toList();
    }

    /** Returns the active sessions with larger numbers, in their order. */
    List<Session> activeAfter(long id) {
        return sessions.values().stream()
                .filter(session -> session.id > id && session.isActive())
                .sorted(java.util.Comparator.comparingLong(session -> session.id))
                .toList();
    }

    /**
     * Ends a session whose client has stopped to use the drives. Removes the registration of a
     * client that could not do this itself, because its path to the drive does not work.
     */
    void goodbye(long id) throws FabricException {
        var session = known(id);
        try {
            var _ = excludeFromDrive(session);
        } catch (FabricException e) {
            end(session, "the drive did not exclude it: " + e.getMessage()); // repeats the attempt
            return;
        }
        if (isKnown(session)) {
            remove(session);
        }
    }

    /**
     * Ends sessions that did not send a heartbeat in time. Called several times per timeout. After
     * a longer pause, such as that of this process, heartbeats can be waiting for the lock.
     */
    void endSilentSessions() {
        var now = System.nanoTime();
        if (now - lastCheck > timeout.toNanos() / 2) {
            for (var session : sessions.values()) {
                session.lastHeartbeat +=
                        Math.max(0, now - timeout.toNanos() - session.lastHeartbeat);
            }
        }
        lastCheck = now;
        for (var session : List.copyOf(sessions.values())) {
            if (now - session.lastHeartbeat > timeout.toNanos() * 3 / 2) {
                end(session, "it sent no heartbeat");
            }
        }
    }

    private void end(Session session, String reason) {
        if (session.isEnding || session.state == Session.State.ENDED) {
            return;
        }
        LOG.warn("Ending {}, because {}", session, reason);
        session.isEnding = true;
        state.changed.signalAll();
        Thread.ofVirtual().name("end-" + session.id).start(() -> exclude(session));
    }

    /**
     * Ends a session. Failed attempts are repeated, because the leases of the session remain until
     * then, unless the drive refuses them because another node leads.
     */
    private void exclude(Session session) {
        try {
            for (var attempt = 1; ; attempt++) {
                try {
                    tryExclude(session);
                    return;
                } catch (FabricException | RuntimeException e) {
                    if (Fence.isRefusal(e)) {
                        roleLost.accept("another node has excluded this one from the drive");
                        return;
                    }
                    if (attempt == 1) {
                        LOG.error("Cannot end {}. The attempts are repeated.", session, e);
                    }
                    Thread.sleep(RETRY_PAUSE);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void tryExclude(Session session) throws FabricException, InterruptedException {
        revoke(session);
        if (!isKnown(session)) {
            return;
        }
        var isEnforced = fence.exclude(session.key);
        state.lock.lock();
        try {
            while (!isEnforced && remaining(session) > 0 && !isClosed) {
                var _ = state.changed.awaitNanos(remaining(session));
            }
            if (isKnown(session)) {
                remove(session);
            }
        } finally {
            state.lock.unlock();
        }
    }

    private boolean isKnown(Session session) {
        state.lock.lock();
        try {
            return !isClosed && sessions.get(session.id) == session;
        } finally {
            state.lock.unlock();
        }
    }

    /** Returns the time until the client of a session has certainly stopped to use the drives. */
    private long remaining(Session session) {
        return session.lastHeartbeat + timeout.toNanos() * 3 / 2 - System.nanoTime();
    }

    /**
     * Waits until all data servers have stopped to serve a session. A server whose own session has
     * ended serves no session, so that servers that are lost together do not wait for each other.
     */
    private void revoke(Session session) throws InterruptedException {
        for (var server : dataServers(session)) {
            var started = System.nanoTime();
            while (!isRevoked(server, session)) {
                state.lock.lock();
                try {
                    if (!isKnown(server) || (server.isEnding && remaining(server) <= 0)) {
                        break;
                    }
                    if (System.nanoTime() - started > timeout.toNanos() * 3) {
                        end(server, "it did not stop to serve " + session);
                    }
                    var _ = state.changed.awaitNanos(RETRY_PAUSE.toNanos());
                } finally {
                    state.lock.unlock();
                }
            }
        }
    }

    private List<Session> dataServers(Session other) {
        state.lock.lock();
        try {
            return sessions.values().stream()
                    .filter(each -> each != other && !each.addresses.isEmpty())
                    .toList();
        } finally {
            state.lock.unlock();
        }
    }

    private boolean isRevoked(Session server, Session session) {
        var link = server.link;
        if (link == null) {
            return false;
        }
        var request = RequestHeader.of(Operation.REVOKE, server.id).encoder();
        request.writeLong(session.id);
        try {
            var _ = ReplyEncoding.decode(link.call(ByteBuffer.wrap(request.bytes()), timeout));
            return true;
        } catch (FabricException e) {
            LOG.debug("Cannot revoke {} at {}: {}", session, server, e.toString());
            return false;
        }
    }

    private void remove(Session session) throws FabricException {
        state.execute(new Change.CloseSession(session.id));
        session.state = Session.State.ENDED;
        sessions.remove(session.id);
        leases.removeAll(session);
        locks.removeAll(session);
        for (var file : List.copyOf(session.reserved.keySet())) {
            releaseReserved(session, file);
        }
        var files = List.copyOf(session.openFiles);
        session.openFiles.clear();
        for (var file : files) {
            freeIfRemoved(file);
        }
        LOG.info("Closed {}", session);
        state.changed.signalAll();
    }

    /** Makes the blocks available that a session has reserved for a file and not used. */
    void releaseReserved(Session session, long file) {
        var reserved = session.reserved.remove(file);
        if (reserved != null) {
            reserved.ranges().forEach(state.available::release);
        }
    }

    /** Frees a file whose name was removed, if no session has opened it. */
    void freeIfRemoved(long file) throws FabricException {
        if (isFreeable(file)) {
            state.execute(new Change.Free(file));
        }
    }

    /** Returns true if the name of a file was removed, and no session has opened it. */
    boolean isFreeable(long file) throws VolumeException {
        var inode = state.namespace.inode(file);
        return inode.parent() == 0
                && file != Namespace.ROOT
                && sessions.values().stream().noneMatch(each -> each.openFiles.contains(file));
    }

    /** Frees removed files that no session has opened, after a takeover. */
    void freeRemovedFiles() throws FabricException {
        for (var inode : List.copyOf(state.namespace.inodes())) {
            freeIfRemoved(inode.attributes().id());
        }
    }

    void close() {
        isClosed = true;
        state.changed.signalAll();
    }
}
