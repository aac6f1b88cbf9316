package org.jrdma.volume.coordinator;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.metadata.Attributes;
import org.jrdma.volume.metadata.Change;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.FileType;
import org.jrdma.volume.metadata.Inode;
import org.jrdma.volume.metadata.Names;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.FolderEntry;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;

/** Executes the requests for paths. Called with the lock of the {@link JournaledMetadata}. */
final class PathRequests {

    private final JournaledMetadata state;
    private final SessionTable sessions;
    private final long waitNanos;

    PathRequests(JournaledMetadata state, SessionTable sessions, long waitNanos) {
        this.state = state;
        this.sessions = sessions;
        this.waitNanos = waitNanos;
    }

    private static byte[] attributes(Inode inode) {
        var reply = ReplyEncoding.encoder();
        inode.attributes().encode(reply);
        return reply.bytes();
    }

    private Inode find(FilePath path) throws VolumeException {
        try {
            return state.namespace.find(path.names());
        } catch (VolumeException e) {
            throw at(path, e);
        }
    }

    private static VolumeException at(FilePath path, VolumeException e) {
        return new VolumeException(e.failure(), "%s: %s".formatted(path, e.getMessage()));
    }

    byte[] lookup(Session session, Decoder request) throws VolumeException, InterruptedException {
        var path = FilePath.decode(request);
        request.end();
        var id = find(path).attributes().id();
        if (!sessions.leases().awaitCommit(session, id, waitNanos)) {
            return ReplyEncoding.retry();
        }
        return attributes(find(path));
    }

    byte[] list(Decoder request) throws VolumeException {
        var path = FilePath.decode(request);
        var after = request.readText(Names.MAX_BYTES);
        request.end();
        var folder = state.namespace.folder(find(path).attributes().id());
        var entries = new ArrayList<FolderEntry>();
        for (var child : folder.children().tailMap(after, false).entrySet()) {
            if (entries.size() == FolderEntry.MAX_ENTRIES) {
                break;
            }
            var inode = state.namespace.inode(child.getValue());
            entries.add(new FolderEntry(child.getKey(), inode.attributes().isFolder()));
        }
        var reply = ReplyEncoding.encoder();
        reply.writeList(entries, (target, entry) -> entry.encode(target));
        return reply.bytes();
    }

    byte[] createFolder(Session session, RequestHeader header, Decoder request)
            throws FabricException {
        var path = FilePath.decode(request);
        var mode = request.readInt();
        request.end();
        return state.execute(
                session,
                header,
                transaction -> attributes(create(transaction, path, FileType.FOLDER, mode)));
    }

    private Inode create(
            JournaledMetadata.Transaction transaction, FilePath path, FileType type, int mode)
            throws VolumeException {
        state.checkMetadataSpace();
        var folder = find(path.folder());
        try {
            var id = state.namespace.nextId();
            transaction.apply(
                    new Change.Create(
                            id,
                            folder.attributes().id(),
                            path.name(),
                            type,
                            mode,
                            Attributes.now()));
            return state.namespace.inode(id);
        } catch (VolumeException e) {
            throw at(path, e);
        }
    }

    /** The modes of {@link #open}. The order is part of the protocol. */
    private enum Creation {
        EXISTING,
        IF_MISSING,
        NEW
    }

    byte[] open(Session session, RequestHeader header, Decoder request) throws FabricException {
        var path = FilePath.decode(request);
        var creation = request.readEnum(Creation.values());
        var mode = request.readInt();
        request.end();
        var reply =
                state.execute(
                        session,
                        header,
                        transaction -> {
                            var inode = openOrCreate(transaction, path, creation, mode);
                            if (inode.attributes().isFolder()) {
                                throw new VolumeException(
                                        Failure.IS_A_FOLDER, path + " is a folder");
                            }
                            return attributes(inode);
                        });
        var file = Attributes.decode(ReplyEncoding.decode(java.nio.ByteBuffer.wrap(reply))).id();
        var _ = state.namespace.inode(file); // it may have been removed since the first execution
        session.open(file);
        return reply;
    }

    private Inode openOrCreate(
            JournaledMetadata.Transaction transaction, FilePath path, Creation creation, int mode)
            throws VolumeException {
        if (creation == Creation.NEW) {
            return create(transaction, path, FileType.FILE, mode);
        }
        try {
            return find(path);
        } catch (VolumeException e) {
            if (creation == Creation.EXISTING || e.failure() != Failure.NOT_FOUND) {
                throw e;
            }
            return create(transaction, path, FileType.FILE, mode);
        }
    }

    byte[] remove(Session session, RequestHeader header, Decoder request) throws FabricException {
        var path = FilePath.decode(request);
        request.end();
        return state.execute(
                session,
                header,
                transaction -> {
                    var id = find(path).attributes().id();
                    var folder = find(path.folder()).attributes().id();
                    transaction.apply(new Change.Remove(folder, path.name(), Attributes.now()));
                    freeIfUnused(transaction, id);
                    return ReplyEncoding.empty();
                });
    }

    private void freeIfUnused(JournaledMetadata.Transaction transaction, long file)
            throws VolumeException {
        if (sessions.isFreeable(file)) {
            transaction.apply(new Change.Free(file));
        }
    }

    byte[] rename(Session session, RequestHeader header, Decoder request) throws FabricException {
        var from = FilePath.decode(request);
        var to = FilePath.decode(request);
        var isReplacing = request.readBoolean();
        request.end();
        return state.execute(
                session,
                header,
                transaction -> {
                    var fromFolder = find(from.folder()).attributes().id();
                    var toFolder = find(to.folder());
                    var moved = find(from);
                    if (bytes(to.name()) > bytes(moved.name())) {
                        state.checkMetadataSpace();
                    }
                    var replaced = toFolder.children().get(to.name());
                    if (replaced != null && replaced != moved.attributes().id() && !isReplacing) {
                        throw new VolumeException(Failure.EXISTS, to + " exists already");
                    }
                    transaction.apply(
                            new Change.Rename(
                                    fromFolder,
                                    from.name(),
                                    toFolder.attributes().id(),
                                    to.name(),
                                    Attributes.now()));
                    if (replaced != null) {
                        freeIfUnused(transaction, replaced);
                    }
                    return ReplyEncoding.empty();
                });
    }

    private static int bytes(String name) {
        return name.getBytes(UTF_8).length;
    }

    byte[] setAttributes(Session session, RequestHeader header, Decoder request)
            throws FabricException {
        var path = FilePath.decode(request);
        var hasMode = request.readBoolean();
        var mode = request.readInt();
        var hasTime = request.readBoolean();
        var time = request.readLong();
        request.end();
        return state.execute(
                session,
                header,
                transaction -> {
                    var attributes = find(path).attributes();
                    transaction.apply(
                            new Change.SetAttributes(
                                    attributes.id(),
                                    hasMode ? mode : attributes.mode(),
                                    hasTime ? time : attributes.modified()));
                    return attributes(find(path));
                });
    }
}
