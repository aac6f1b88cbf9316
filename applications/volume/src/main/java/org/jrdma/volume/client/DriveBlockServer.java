package org.jrdma.volume.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;

/**
 * Serves the blocks of a drive to clients that have no path to it.
 *
 * <p>The coordinator confirms each session before its first request is served, and again after this
 * node has connected to the coordinator or its successor. When a session ends, the coordinator
 * revokes it: pending requests are completed, and later ones are refused. This node serves no
 * session while its own session may have ended. Safe for use by multiple threads.
 */
public final class DriveBlockServer {

    private final Drive drive;
    private final long firstBlock;
    private final ClientSession own;
    private final Map<Long, Served> sessions = new ConcurrentHashMap<>();

    /** The last {@link ClientSession#term} in which entries of earlier terms were removed. */
    private volatile long cleanedIn;

    private volatile boolean isClosed;

    /** The last {@link ClientSession#term} in which the drive has refused a change. */
    private volatile long refusedIn = -1;

    private static final class Served {

        /** Held for reading by requests, and for writing to revoke the session. */
        private final ReentrantReadWriteLock requests = new ReentrantReadWriteLock();

        /**
         * The {@link ClientSession#term} in which the coordinator has confirmed or revoked the
         * session.
         */
        private volatile long term;

        private boolean isRevoked;

        /** Returns true if this is an entry of an earlier term, whose requests are completed. */
        boolean isUnusedIn(long current) {
            if (term >= current || !requests.writeLock().tryLock()) {
                return false;
            }
            requests.writeLock().unlock();
            return true;
        }

        void revoke() {
            requests.writeLock().lock();
            try {
                isRevoked = true;
            } finally {
                requests.writeLock().unlock();
            }
        }
    }

    /**
     * @param firstBlock the first block that clients can access, after the metadata
     */
    DriveBlockServer(Drive drive, long firstBlock, ClientSession own) {
        this.drive = drive;
        this.firstBlock = firstBlock;
        this.own = own;
    }

    /** Returns true for the requests that a block service executes. */
    public static boolean accepts(Operation operation) {
        return switch (operation) {
            case READ_BLOCKS, WRITE_BLOCKS, FLUSH_BLOCKS, FORWARDED_WRITE, FORWARDED_FLUSH -> true;
            default -> false;
        };
    }

    /**
     * Executes a request of a client.
     *
     * @param bulk the memory for the blocks; empty for a flush
     * @throws FabricException if the coordinator may execute a forwarded write later
     */
    public ByteBuffer handle(ByteBuffer request, MemorySegment bulk) throws FabricException {
        try {
            var decoder = new Decoder(request);
            var header = RequestHeader.decode(decoder);
            execute(header, decoder, bulk);
            return ByteBuffer.wrap(ReplyEncoding.empty());
        } catch (MissingReplyException e) {
            throw e; // the client gets no reply either
        } catch (VolumeException e) {
            return ByteBuffer.wrap(ReplyEncoding.failure(e));
        } catch (FabricException | IndexOutOfBoundsException e) {
            return ByteBuffer.wrap(
                    ReplyEncoding.failure(new VolumeException(String.valueOf(e.getMessage()), e)));
        }
    }

    private void execute(RequestHeader header, Decoder request, MemorySegment bulk)
            throws FabricException {
        var served = served(header.session());
        served.requests.readLock().lock();
        try {
            if (isClosed || served.isRevoked || served.term != own.term() || !own.isValid()) {
                throw new VolumeException(
                        Failure.SESSION_LOST,
                        "This node does not serve session %x".formatted(header.session()));
            }
            access(header, request, bulk);
        } finally {
            served.requests.readLock().unlock();
        }
    }

    private Served served(long session) throws FabricException {
        var known = sessions.get(session);
        var term = own.term();
        if (known != null && known.term == term) {
            return known;
        }
        own.call(Operation.VALIDATE, encoder -> encoder.writeLong(session)).end();
        removeUnused(term);
        return entry(session, term);
    }

    /** Returns the entry of a session, which remains until a later term. */
    private Served entry(long session, long term) {
        return java.util.Objects.requireNonNull(
                sessions.compute(
                        session,
                        (_, known) -> {
                            var served = known == null ? new Served() : known;
                            served.term = term;
                            return served;
                        }));
    }

    /**
     * Removes the entries of earlier terms: the coordinator confirms their sessions again, except
     * those that it has revoked.
     */
    private void removeUnused(long term) {
        if (cleanedIn < term) {
            cleanedIn = term;
            for (var session : sessions.keySet()) {
                var _ =
                        sessions.computeIfPresent(
                                session, (_, served) -> served.isUnusedIn(term) ? null : served);
            }
        }
    }

    /** Returns the number of sessions that this node remembers, for tests. */
    int sessions() {
        return sessions.size();
    }

    private void access(RequestHeader header, Decoder request, MemorySegment bulk)
            throws FabricException {
        switch (header.operation()) {
            case READ_BLOCKS -> drive.read(block(request), bulk);
            case WRITE_BLOCKS -> {
                var block = block(request);
                change(header.session(), target -> target.write(block, bulk));
            }
            case FLUSH_BLOCKS -> change(header.session(), Drive::flush);
            case FORWARDED_WRITE -> drive.write(block(request), bulk);
            case FORWARDED_FLUSH -> drive.flush();
            default ->
                    throw new VolumeException(
                            Failure.INVALID,
                            "The block service does not execute " + header.operation());
        }
    }

    @FunctionalInterface
    private interface Change {
        void run(Drive target) throws FabricException;
    }

    /**
     * Writes or flushes. A drive with reservations refuses this to standbys, so the coordinator
     * does it instead.
     */
    private void change(long session, Change change) throws FabricException {
        var term = own.term();
        if (refusedIn != term) {
            try {
                change.run(drive);
                return;
            } catch (FabricException e) {
                if (!Fence.isRefusal(e)) {
                    throw e;
                }
                refusedIn = term;
            }
        }
        change.run(own.coordinatorDrive(session, drive.blocks()));
    }

    private long block(Decoder request) throws VolumeException {
        var block = request.readCount("a block");
        request.end();
        if (block < firstBlock) {
            throw new VolumeException(
                    Failure.INVALID, "Block %d contains metadata".formatted(block));
        }
        return block;
    }

    /** Executes a request of the coordinator to stop to serve a session. */
    ByteBuffer handleRevocation(ByteBuffer request) {
        try {
            var decoder = new Decoder(request);
            var header = RequestHeader.decode(decoder);
            if (header.operation() != Operation.REVOKE || header.session() != own.id()) {
                throw new VolumeException(
                        Failure.INVALID,
                        "Unexpected %s for session %x"
                                .formatted(header.operation(), header.session()));
            }
            revoke(decoder.readLong());
            return ByteBuffer.wrap(ReplyEncoding.empty());
        } catch (VolumeException e) {
            return ByteBuffer.wrap(ReplyEncoding.failure(e));
        }
    }

    /** Stops to serve a session. Returns when its pending requests are completed. */
    private void revoke(long session) {
        entry(session, own.term()).revoke();
    }

    /** Stops to serve all sessions. Returns when the pending requests are completed. */
    void close() {
        isClosed = true;
        sessions.values().forEach(Served::revoke);
    }
}
