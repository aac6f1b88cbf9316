package org.jrdma.volume.coordinator;

import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.metadata.Attributes;
import org.jrdma.volume.metadata.Change;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.FileExtent;
import org.jrdma.volume.metadata.FreeSpace;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.metadata.Inode;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.BlockRangeEncoding;
import org.jrdma.volume.protocol.ByteLock;
import org.jrdma.volume.protocol.LeaseGrant;
import org.jrdma.volume.protocol.LeaseMode;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;

/** Executes the requests for open files. Called with the lock of the {@link JournaledMetadata}. */
final class FileRequests {

    /** The largest part of the available blocks that one request reserves beyond its need. */
    private static final int RESERVED_PART = 8;

    private static final long MAX_RESERVED_BLOCKS = 1 << 20;

    private final JournaledMetadata state;
    private final SessionTable sessions;
    private final long waitNanos;

    FileRequests(JournaledMetadata state, SessionTable sessions, long waitNanos) {
        this.state = state;
        this.sessions = sessions;
        this.waitNanos = waitNanos;
    }

    byte[] close(Session session, Decoder request) throws FabricException {
        var file = request.readLong();
        request.end();
        sessions.leases().remove(session, file);
        sessions.releaseReserved(session, file);
        sessions.locks().removeAll(session, file);
        if (session.openFiles.remove(file)) {
            sessions.freeIfRemoved(file);
        }
        return ReplyEncoding.empty();
    }

    private Inode open(Session session, long file) throws VolumeException {
        if (!session.openFiles.contains(file)) {
            throw new VolumeException(
                    Failure.INVALID, "File %d is not open in %s".formatted(file, session));
        }
        return state.namespace.inode(file);
    }

    /** Opens a file that the client has opened in an earlier session. */
    private void openAgain(Session session, long file) throws VolumeException {
        var _ = state.namespace.inode(file);
        session.open(file);
    }

    byte[] lease(Session session, Decoder request) throws VolumeException, InterruptedException {
        var file = request.readLong();
        var mode = LeaseMode.decode(request);
        request.end();
        openAgain(session, file);
        if (mode == LeaseMode.NONE) {
            sessions.leases().remove(session, file);
            sessions.releaseReserved(session, file);
            return ReplyEncoding.empty();
        }
        var number = sessions.leases().acquire(session, file, mode, waitNanos);
        if (number.isEmpty()) {
            return ReplyEncoding.retry();
        }
        var inode = open(session, file);
        var extents = inode.extents().extents();
        var reply = ReplyEncoding.encoder();
        new LeaseGrant(
                        mode,
                        number.get(),
                        inode.attributes(),
                        extents.stream().limit(LeaseGrant.MAX_EXTENTS).toList(),
                        extents.size() > LeaseGrant.MAX_EXTENTS)
                .encode(reply);
        return reply.bytes();
    }

    byte[] extents(Session session, Decoder request) throws VolumeException {
        var file = request.readLong();
        var from = request.readLong();
        request.end();
        if (!sessions.leases().isHolder(session, file)) {
            throw noLease(session, file);
        }
        var extents =
                open(session, file).extents().extents().stream()
                        .filter(extent -> extent.fileBlock() >= from)
                        .limit(LeaseGrant.MAX_EXTENTS)
                        .toList();
        var reply = ReplyEncoding.encoder();
        reply.writeList(extents, (target, extent) -> extent.encode(target));
        return reply.bytes();
    }

    byte[] allocate(Session session, Decoder request) throws VolumeException {
        var file = request.readLong();
        var needed = request.readCount("a number of blocks");
        var wanted = request.readCount("a number of blocks");
        var near = request.readCount("a block");
        request.end();
        if (needed == 0 || wanted < needed) {
            throw new VolumeException(
                    Failure.INVALID,
                    "Invalid number of blocks: %d are needed, %d wanted".formatted(needed, wanted));
        }
        checkWriter(session, file);
        var limit = Math.max(needed, state.available.free() / RESERVED_PART);
        var ranges =
                state.available.take(Math.min(Math.min(wanted, limit), MAX_RESERVED_BLOCKS), near);
        var count = ranges.stream().mapToLong(Range::blocks).sum();
        if (count < needed || ranges.size() > LeaseGrant.MAX_EXTENTS) {
            for (var range : ranges) {
                state.available.release(range);
            }
            throw new VolumeException(
                    Failure.NO_SPACE,
                    "The volume has no space: %d blocks are available, %d are needed"
                            .formatted(state.available.free(), needed));
        }
        var reserved = session.reserved.computeIfAbsent(file, _ -> new FreeSpace(new Range(0, 0)));
        for (var range : ranges) {
            reserved.release(range);
        }
        var reply = ReplyEncoding.encoder();
        BlockRangeEncoding.encode(reply, ranges);
        return reply.bytes();
    }

    byte[] commit(Session session, RequestHeader header, Decoder request) throws FabricException {
        var file = request.readLong();
        var size = request.readLong();
        var time = request.readLong();
        var added = request.readList(Change.MAX_EXTENTS, FileExtent::decode);
        request.end();
        return state.execute(
                session,
                header,
                transaction -> {
                    checkWriter(session, file);
                    if (!added.isEmpty()) {
                        state.checkMetadataSpace();
                    }
                    var reserved =
                            session.reserved.getOrDefault(file, new FreeSpace(new Range(0, 0)));
                    var rest = new FreeSpace(reserved);
                    for (var extent : added) {
                        rest.take(new Range(extent.driveBlock(), extent.blocks()));
                    }
                    transaction.apply(new Change.Commit(file, size, time, added));
                    session.reserved.put(file, rest);
                    return attributes(file);
                });
    }

    byte[] truncate(Session session, RequestHeader header, Decoder request) throws FabricException {
        var file = request.readLong();
        var size = request.readLong();
        request.end();
        return state.execute(
                session,
                header,
                transaction -> {
                    checkWriter(session, file);
                    transaction.apply(new Change.Truncate(file, size, Attributes.now()));
                    return attributes(file);
                });
    }

    private byte[] attributes(long file) throws VolumeException {
        var reply = ReplyEncoding.encoder();
        state.namespace.inode(file).attributes().encode(reply);
        return reply.bytes();
    }

    private void checkWriter(Session session, long file) throws VolumeException {
        var _ = open(session, file);
        if (!sessions.leases().isWriter(session, file)) {
            throw noLease(session, file);
        }
    }

    private static VolumeException noLease(Session session, long file) {
        return new VolumeException(
                Failure.INVALID, "%s has no sufficient lease on file %d".formatted(session, file));
    }

    byte[] lock(Session session, Decoder request) throws VolumeException, InterruptedException {
        var file = request.readLong();
        var lock = ByteLock.decode(request);
        var isWaiting = request.readBoolean();
        request.end();
        var link = session.link;
        var remaining = waitNanos;
        while (true) {
            session.checkActive();
            session.checkLink(link); // otherwise, the lock could outlast a later unlock
            openAgain(session, file);
            if (sessions.locks().tryLock(session, file, lock)) {
                return ReplyEncoding.empty();
            }
            if (!isWaiting) {
                throw new VolumeException(
                        Failure.LOCKED,
                        "Bytes %d to %d of file %d are locked"
                                .formatted(lock.start(), lock.end(), file));
            }
            if (remaining <= 0) {
                return ReplyEncoding.retry();
            }
            remaining = state.changed.awaitNanos(remaining);
        }
    }

    byte[] unlock(Session session, Decoder request) throws VolumeException {
        var file = request.readLong();
        var range = ByteLock.decode(request);
        request.end();
        sessions.locks().unlock(session, file, range);
        state.changed.signalAll();
        return ReplyEncoding.empty();
    }

    byte[] reclaim(RequestHeader header, Decoder request) throws VolumeException {
        var file = request.readLong();
        var mode = LeaseMode.decode(request);
        var number = request.readLong();
        var reserved = BlockRangeEncoding.decode(request);
        List<ByteLock> held = request.readList(ByteLock.MAX_LOCKS, ByteLock::decode);
        request.end();
        sessions.reclaim(header.session(), file, mode, number, reserved, held);
        return ReplyEncoding.empty();
    }
}
