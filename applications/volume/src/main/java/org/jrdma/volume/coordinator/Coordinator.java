package org.jrdma.volume.coordinator;

import static java.util.stream.Collectors.toSet;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Journal;
import org.jrdma.volume.metadata.Names;
import org.jrdma.volume.metadata.Recovery;
import org.jrdma.volume.metadata.SessionRecord;
import org.jrdma.volume.metadata.Superblock;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.model.VolumeUse;
import org.jrdma.volume.protocol.PeerConnection;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.jrdma.volume.protocol.StatusReportEncoding;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator of a volume in one epoch. Executes the requests of clients.
 *
 * <p>A reply is sent after everything that it depends on is durable in the journal, and while no
 * other node can be the coordinator. If the journal fails, or this node loses its role, the
 * coordinator {@linkplain #ended() ends}. Safe for use by multiple threads.
 */
public final class Coordinator implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Coordinator.class);
    private static final int TICKS_PER_TIMEOUT = 8;
    private static final int MAX_ADDRESS_BYTES = 500;
    private static final int MAX_SERVERS = 20;
    private static final int MAX_STATES_BYTES = 40_000;

    /** The longest time for which a request waits before its client must repeat it. */
    private static final Duration MAX_WAIT = Duration.ofMillis(500);

    private final UUID volume;
    private final long epoch;
    private final Duration sessionTimeout;
    private final JournaledMetadata state;
    private final SessionTable sessions;
    private final FileRequests files;
    private final PathRequests folders;
    private final CompletableFuture<String> ended = new CompletableFuture<>();
    private boolean hasFreedRemovedFiles;

    /**
     * Starts an epoch. Reads the journal and writes a snapshot. Excludes all nodes from the drive
     * that have no session.
     *
     * @param fence excludes nodes from the drive. This node leads
     * @param sessionTimeout the time after which a client that sends no heartbeat may no longer use
     *     the drives
     * @param guard throws if another node may be the coordinator
     * @throws FabricException if the drive fails, or the volume is damaged
     */
    public Coordinator(
            Drive drive, Fence fence, long epoch, Duration sessionTimeout, Journal.Guard guard)
            throws FabricException {
        var superblock = Superblock.read(drive);
        var recovery = Recovery.read(drive, superblock);
        var journal = Journal.start(drive, superblock, epoch, recovery, guard);
        LOG.info(
                "Coordinator of volume {} in epoch {}: {} files, {} sessions, {} journal entries",
                superblock.id(),
                epoch,
                recovery.namespace().inodes().size(),
                recovery.namespace().sessions().size(),
                recovery.entries());
        this.volume = superblock.id();
        this.epoch = epoch;
        this.sessionTimeout = sessionTimeout;
        this.state = new JournaledMetadata(recovery.namespace(), journal);
        fence.excludeUnknown(
                recovery.namespace().sessions().values().stream()
                        .map(SessionRecord::key)
                        .collect(toSet()));
        this.sessions = new SessionTable(state, fence, sessionTimeout, epoch, this::end);
        this.files = new FileRequests(state, sessions, MAX_WAIT.toNanos());
        this.folders = new PathRequests(state, sessions, MAX_WAIT.toNanos());
        Thread.ofVirtual().name("volume-sessions-" + epoch).start(this::tick);
    }

    /** Returns the number of the term of this coordinator. */
    public long epoch() {
        return epoch;
    }

    /** Returns true if there are sessions, also after the end of this coordinator. */
    boolean hasSessions() {
        state.lock.lock();
        try {
            return !sessions.isEmpty();
        } finally {
            state.lock.unlock();
        }
    }

    /** Returns a future that completes with the reason when this coordinator has ended. */
    public CompletableFuture<String> ended() {
        return ended.copy();
    }

    private void tick() {
        while (!ended.isDone()) {
            state.lock.lock();
            try {
                sessions.endSilentSessions();
                freeRemovedFiles();
                var _ = state.changed.awaitNanos(sessionTimeout.toNanos() / TICKS_PER_TIMEOUT);
            } catch (FabricException e) {
                end(e.getMessage());
            } catch (RuntimeException e) {
                LOG.error("The coordinator of epoch {} has failed", epoch, e);
                end(e.toString());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } finally {
                state.lock.unlock();
            }
        }
    }

    private void freeRemovedFiles() throws FabricException {
        if (!hasFreedRemovedFiles && sessions.isReady()) {
            hasFreedRemovedFiles = true;
            sessions.freeRemovedFiles();
        }
    }

    /**
     * Executes a request. Blocks until the reply is durable.
     *
     * @param peer calls the client
     * @return the reply, also if the request is rejected
     */
    public ByteBuffer handle(PeerConnection peer, ByteBuffer request) {
        return ByteBuffer.wrap(handleDurably(peer, request));
    }

    private byte[] handleDurably(PeerConnection peer, ByteBuffer request) {
        byte[] reply;
        long position;
        state.lock.lock();
        try {
            reply = execute(peer, new Decoder(request));
        } catch (VolumeException e) {
            reply = ReplyEncoding.failure(e);
        } catch (FabricException e) {
            end(e.getMessage());
            return notCoordinator();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return notCoordinator();
        } finally {
            position = state.journal.position();
            state.lock.unlock();
        }
        try {
            state.journal.awaitDurable(position);
        } catch (FabricException e) {
            end(e.getMessage());
        }
        return ended.isDone() ? notCoordinator() : reply;
    }

    private static byte[] notCoordinator() {
        return ReplyEncoding.failure(
                new VolumeException(Failure.NOT_COORDINATOR, "This node is not the coordinator"));
    }

    private byte[] execute(PeerConnection peer, Decoder request)
            throws FabricException, InterruptedException {
        var header = RequestHeader.decode(request);
        return switch (header.operation()) {
            case HELLO -> hello(peer, header, request);
            case RECLAIM -> files.reclaim(header, request);
            case RECLAIMED -> {
                sessions.reclaimed(header.session());
                yield ReplyEncoding.empty();
            }
            case HEARTBEAT -> heartbeat(peer, header, request);
            case CLIENT_STATES -> clientStates(request);
            case VALIDATE -> {
                sessions.checkServable(header.session(), peer, request.readLong());
                request.end();
                yield ReplyEncoding.empty();
            }
            case GOODBYE -> {
                sessions.goodbye(header.session());
                yield ReplyEncoding.empty();
            }
            default -> isReady() ? execute(peer, header, request) : ReplyEncoding.retry();
        };
    }

    private boolean isReady() throws InterruptedException {
        var remaining = MAX_WAIT.toNanos();
        while (!sessions.isReady() && remaining > 0) {
            remaining = state.changed.awaitNanos(remaining);
        }
        return sessions.isReady();
    }

    private byte[] execute(PeerConnection peer, RequestHeader header, Decoder request)
            throws FabricException, InterruptedException {
        var session = sessions.active(header.session(), peer);
        return switch (header.operation()) {
            case EXCLUDE -> sessions.excludeFromDrive(session);
            case CAPACITY -> capacity();
            case LOOKUP -> folders.lookup(session, request);
            case LIST -> folders.list(request);
            case CREATE_FOLDER -> folders.createFolder(session, header, request);
            case REMOVE -> folders.remove(session, header, request);
            case RENAME -> folders.rename(session, header, request);
            case SET_ATTRIBUTES -> folders.setAttributes(session, header, request);
            case OPEN -> folders.open(session, header, request);
            case CLOSE -> files.close(session, request);
            case LEASE -> files.lease(session, request);
            case EXTENTS -> files.extents(session, request);
            case ALLOCATE -> files.allocate(session, request);
            case COMMIT -> files.commit(session, header, request);
            case TRUNCATE -> files.truncate(session, header, request);
            case LOCK -> files.lock(session, request);
            case UNLOCK -> files.unlock(session, request);
            default ->
                    throw new VolumeException(
                            Failure.INVALID,
                            "A coordinator does not execute %s".formatted(header.operation()));
        };
    }

    private byte[] hello(PeerConnection peer, RequestHeader header, Decoder request)
            throws FabricException {
        var key = request.readLong();
        var name = request.readText(Names.MAX_BYTES);
        var addresses =
                request.readList(
                        RequestHeader.MAX_ADDRESSES, source -> source.readText(MAX_ADDRESS_BYTES));
        request.end();
        var session = sessions.hello(header.session(), peer, key, name, addresses);
        var reply = ReplyEncoding.encoder();
        reply.writeLong(session.id);
        reply.writeBoolean(session.state == Session.State.UNCLAIMED);
        reply.writeLong(epoch);
        reply.writeLong(sessionTimeout.toMillis());
        reply.writeLong(volume.getMostSignificantBits());
        reply.writeLong(volume.getLeastSignificantBits());
        return reply.bytes();
    }

    private byte[] heartbeat(PeerConnection peer, RequestHeader header, Decoder request)
            throws VolumeException {
        var state = StatusReportEncoding.decodeClient(request);
        request.end();
        var reply = ReplyEncoding.encoder();
        reply.writeList(
                sessions.heartbeat(header.session(), peer, state).stream()
                        .limit(MAX_SERVERS)
                        .toList(),
                (target, addresses) ->
                        target.writeList(addresses, org.jrdma.volume.metadata.Encoder::writeText));
        return reply.bytes();
    }

    /** Returns as many states as fit into a message, each with the number of its session. */
    private byte[] clientStates(Decoder request) throws VolumeException {
        var after = request.readCount("a session");
        request.end();
        var reply = ReplyEncoding.encoder();
        for (var session : sessions.activeAfter(after)) {
            if (reply.size() > MAX_STATES_BYTES) {
                break;
            }
            var reported = session.reported;
            if (reported != null) {
                reply.writeLong(session.id);
                StatusReportEncoding.encode(reply, reported);
            }
        }
        return reply.bytes();
    }

    /** Returns the use of the volume. */
    public VolumeUse use() {
        state.lock.lock();
        try {
            return new VolumeUse(
                    state.namespace.data().blocks() * Drive.BLOCK_BYTES,
                    state.available.free() * Drive.BLOCK_BYTES,
                    state.namespace.inodes().size());
        } finally {
            state.lock.unlock();
        }
    }

    private byte[] capacity() {
        var reply = ReplyEncoding.encoder();
        reply.writeLong(state.namespace.data().blocks());
        reply.writeLong(state.available.free());
        reply.writeLong(state.namespace.inodes().size());
        return reply.bytes();
    }

    private void end(String reason) {
        if (ended.complete(reason)) {
            LOG.warn("The coordinator of epoch {} has ended: {}", epoch, reason);
            close();
        }
    }

    /**
     * Ends this coordinator. Its clients continue with the next one. Waits until the journal is not
     * being written.
     */
    @Override
    public void close() {
        var _ = ended.complete("it was closed");
        state.lock.lock();
        try {
            sessions.close();
        } finally {
            state.lock.unlock();
        }
        state.journal.close();
    }
}
