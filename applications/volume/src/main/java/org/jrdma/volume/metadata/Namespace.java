package org.jrdma.volume.metadata;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of a volume in memory: folders, files, extents, free space, and sessions.
 *
 * <p>{@link #apply} is deterministic: the same changes lead to the same namespace. A change that is
 * rejected changes nothing. Not safe for use by multiple threads.
 */
public final class Namespace {

    /** The id of the root folder. */
    public static final long ROOT = 1;

    private static final int ROOT_MODE = 0755;
    private static final int MAX_INODES = 100_000_000;
    private static final int MAX_SESSIONS = 100_000;

    /** The bytes of a snapshot without sessions and inodes. */
    private static final int HEADER_BYTES = 3 * Long.BYTES + 2 * Integer.BYTES;

    private final Range data;
    private final FreeSpace free;
    private final TreeMap<Long, Inode> inodes = new TreeMap<>();
    private final TreeMap<Long, SessionRecord> sessions = new TreeMap<>();
    private long nextId = ROOT + 1;
    private long encodedBytes;

    /** Creates a namespace with an empty root folder. */
    public Namespace(Range data, long time) {
        this.data = data;
        this.free = new FreeSpace(data);
        put(new Inode(new Attributes(ROOT, FileType.FOLDER, ROOT_MODE, 0, 0, time, time), 0, ""));
    }

    private Namespace(Range data) {
        this.data = data;
        this.free = new FreeSpace(data);
    }

    /** Returns the blocks that files can use. */
    public Range data() {
        return data;
    }

    /** Returns the blocks that no file uses. The caller must not change them. */
    public FreeSpace free() {
        return free;
    }

    /** Returns the id for the next file. */
    public long nextId() {
        return nextId;
    }

    /** Returns the sessions by their numbers. */
    public Map<Long, SessionRecord> sessions() {
        return Collections.unmodifiableMap(sessions);
    }

    /** Returns all files and folders, also removed files whose data was not freed. */
    public Collection<Inode> inodes() {
        return Collections.unmodifiableCollection(inodes.values());
    }

    /** Returns the largest number of bytes that {@link #encode} writes until the next change. */
    public long encodedBytes() {
        return HEADER_BYTES + encodedBytes + (long) sessions.size() * SessionRecord.MAX_BYTES;
    }

    /**
     * Returns a file or folder.
     *
     * @throws VolumeException if it does not exist
     */
    public Inode inode(long id) throws VolumeException {
        var inode = inodes.get(id);
        if (inode == null) {
            throw new VolumeException(Failure.NOT_FOUND, "File %d does not exist".formatted(id));
        }
        return inode;
    }

    /**
     * Returns a folder.
     *
     * @throws VolumeException if it does not exist or is a file
     */
    public Inode folder(long id) throws VolumeException {
        var inode = inode(id);
        if (!inode.attributes.isFolder()) {
            throw new VolumeException(
                    Failure.NOT_A_FOLDER, "\"%s\" is not a folder".formatted(inode.name));
        }
        return inode;
    }

    /**
     * Returns the file or folder with a name.
     *
     * @throws VolumeException if the folder or the name does not exist
     */
    public Inode child(long folder, String name) throws VolumeException {
        var id = folder(folder).children.get(name);
        if (id == null) {
            throw new VolumeException(Failure.NOT_FOUND, "\"%s\" does not exist".formatted(name));
        }
        return inode(id);
    }

    /**
     * Returns the file or folder at the end of a path of names.
     *
     * @throws VolumeException if it does not exist
     */
    public Inode find(List<String> path) throws VolumeException {
        var inode = inode(ROOT);
        for (var name : path) {
            inode = child(inode.attributes.id(), name);
        }
        return inode;
    }

    /**
     * Applies the changes of an entry, and remembers its reply.
     *
     * @return the extents that were freed
     * @throws VolumeException if a change is invalid. The changes before it remain applied
     */
    public List<FileExtent> apply(JournalEntry entry) throws VolumeException {
        var freed = new ArrayList<FileExtent>();
        for (var change : entry.changes()) {
            freed.addAll(apply(change));
        }
        remember(entry);
        return freed;
    }

    /** Remembers the reply of an entry whose changes were applied. */
    public void remember(JournalEntry entry) {
        var session = sessions.get(entry.session());
        if (session != null) {
            session.add(entry.request(), entry.answered(), entry.reply());
        }
    }

    /**
     * Applies a change.
     *
     * @return the extents that were freed
     * @throws VolumeException if the change is invalid; nothing is changed
     */
    public List<FileExtent> apply(Change change) throws VolumeException {
        switch (change) {
            case Change.OpenSession(var session, var key, var name) -> {
                if (sessions.containsKey(session) || session == 0) {
                    throw invalid("Session %d exists already".formatted(session));
                }
                sessions.put(session, new SessionRecord(session, key, name));
            }
            case Change.CloseSession(var session) -> {
                if (sessions.remove(session) == null) {
                    throw invalid("Session %d does not exist".formatted(session));
                }
            }
            case Change.Create create -> create(create);
            case Change.Remove remove -> remove(remove);
            case Change.Rename rename -> rename(rename);
            case Change.Commit commit -> commit(commit);
            case Change.Truncate(var id, var size, var time) -> {
                return truncate(id, size, time);
            }
            case Change.SetAttributes(var id, var mode, var modified) -> {
                var inode = inode(id);
                inode.attributes = inode.attributes.withMode(mode, modified);
            }
            case Change.Free(var id) -> {
                return free(id);
            }
        }
        return List.of();
    }

    private void create(Change.Create create) throws VolumeException {
        var folder = folder(create.parent());
        checkNew(folder, create.name());
        if (create.id() != nextId) {
            throw invalid("The next file is %d, not %d".formatted(nextId, create.id()));
        }
        var attributes =
                new Attributes(
                        create.id(),
                        create.type(),
                        create.mode(),
                        0,
                        0,
                        create.time(),
                        create.time());
        nextId++;
        put(new Inode(attributes, create.parent(), create.name()));
        folder.children.put(create.name(), create.id());
        touch(folder, create.time());
    }

    private static void checkNew(Inode folder, String name) throws VolumeException {
        Names.check(name);
        if (isRemoved(folder)) {
            throw new VolumeException(
                    Failure.NOT_FOUND, "The folder \"%s\" was removed".formatted(folder.name));
        }
        if (folder.children.containsKey(name)) {
            throw new VolumeException(Failure.EXISTS, "\"%s\" exists already".formatted(name));
        }
    }

    private static boolean isRemoved(Inode inode) {
        return inode.parent == 0 && inode.attributes.id() != ROOT;
    }

    private void remove(Change.Remove remove) throws VolumeException {
        var folder = folder(remove.parent());
        var inode = child(remove.parent(), remove.name());
        checkEmpty(inode);
        unlink(folder, inode);
        touch(folder, remove.time());
    }

    private static void checkEmpty(Inode inode) throws VolumeException {
        if (!inode.children.isEmpty()) {
            throw new VolumeException(
                    Failure.NOT_EMPTY, "The folder \"%s\" is not empty".formatted(inode.name));
        }
    }

    private static void unlink(Inode folder, Inode inode) {
        folder.children.remove(inode.name);
        inode.parent = 0;
    }

    private void rename(Change.Rename rename) throws VolumeException {
        var from = folder(rename.fromParent());
        var to = folder(rename.toParent());
        var moved = child(rename.fromParent(), rename.fromName());
        var replaced = replacedBy(moved, to, rename.toName());
        if (replaced == moved) {
            return;
        }
        if (replaced != null) {
            unlink(to, replaced);
        }
        from.children.remove(rename.fromName());
        encodedBytes -= moved.encodedBytes();
        moved.parent = rename.toParent();
        moved.name = rename.toName();
        encodedBytes += moved.encodedBytes();
        to.children.put(rename.toName(), moved.attributes.id());
        touch(from, rename.time());
        touch(to, rename.time());
    }

    /** Checks whether a file can be moved, and returns the file that it replaces. */
    private @Nullable Inode replacedBy(Inode moved, Inode to, String name) throws VolumeException {
        for (var folder = to; ; folder = inode(folder.parent)) {
            if (folder == moved) {
                throw invalid(
                        "The folder \"%s\" cannot be moved into itself".formatted(moved.name));
            }
            if (folder.parent == 0) {
                break;
            }
        }
        var id = to.children.get(name);
        if (id == null) {
            checkNew(to, name);
            return null;
        }
        var replaced = inode(id);
        if (replaced != moved) {
            if (replaced.attributes.isFolder() && !moved.attributes.isFolder()) {
                throw new VolumeException(
                        Failure.IS_A_FOLDER, "\"%s\" is a folder".formatted(name));
            }
            if (!replaced.attributes.isFolder() && moved.attributes.isFolder()) {
                throw new VolumeException(
                        Failure.NOT_A_FOLDER, "\"%s\" is not a folder".formatted(name));
            }
            checkEmpty(replaced);
        }
        return replaced;
    }

    private void commit(Change.Commit commit) throws VolumeException {
        var inode = file(commit.id());
        checkSize(commit.size());
        var extents = new ExtentMap(inode.extents);
        var rest = new FreeSpace(free); // finds extents that overlap each other, too
        for (var extent : commit.added()) {
            extents.add(extent);
            rest.take(new Range(extent.driveBlock(), extent.blocks()));
        }
        if (extents.end() > blocks(commit.size())) {
            throw invalid(
                    "An extent of file %d exceeds its size of %d bytes"
                            .formatted(commit.id(), commit.size()));
        }
        encodedBytes -= inode.encodedBytes();
        for (var extent : commit.added()) {
            free.take(new Range(extent.driveBlock(), extent.blocks()));
            inode.extents.add(extent);
        }
        encodedBytes += inode.encodedBytes();
        inode.attributes = inode.attributes.withContent(commit.size(), commit.time());
    }

    private List<FileExtent> truncate(long id, long size, long time) throws VolumeException {
        var inode = file(id);
        checkSize(size);
        encodedBytes -= inode.encodedBytes();
        var removed = inode.extents.truncate(blocks(size));
        encodedBytes += inode.encodedBytes();
        release(removed);
        inode.attributes = inode.attributes.withContent(size, time);
        return removed;
    }

    private List<FileExtent> free(long id) throws VolumeException {
        var inode = inode(id);
        if (!isRemoved(inode)) {
            throw invalid("File %d was not removed".formatted(id));
        }
        var extents = List.copyOf(inode.extents.extents());
        release(extents);
        encodedBytes -= inode.encodedBytes();
        inodes.remove(id);
        return extents;
    }

    private void release(List<FileExtent> extents) {
        for (var extent : extents) {
            free.release(new Range(extent.driveBlock(), extent.blocks()));
        }
    }

    private Inode file(long id) throws VolumeException {
        var inode = inode(id);
        if (inode.attributes.isFolder()) {
            throw new VolumeException(
                    Failure.IS_A_FOLDER, "\"%s\" is a folder".formatted(inode.name));
        }
        return inode;
    }

    private static void checkSize(long size) throws VolumeException {
        if (size < 0 || size > Attributes.MAX_SIZE) {
            throw invalid(
                    "Invalid size %d. A file has up to %d bytes."
                            .formatted(size, Attributes.MAX_SIZE));
        }
    }

    /** Returns the number of blocks that contain a number of bytes. */
    public static long blocks(long bytes) {
        return Math.ceilDiv(bytes, org.jrdma.volume.drive.Drive.BLOCK_BYTES);
    }

    private static void touch(Inode folder, long time) {
        folder.attributes = folder.attributes.withContent(0, time);
    }

    private void put(Inode inode) {
        inodes.put(inode.attributes.id(), inode);
        encodedBytes += inode.encodedBytes();
    }

    private static VolumeException invalid(String message) {
        return new VolumeException(Failure.INVALID, message);
    }

    /** Writes a snapshot. */
    public void encode(Encoder encoder) {
        encoder.writeLong(data.block());
        encoder.writeLong(data.blocks());
        encoder.writeLong(nextId);
        encoder.writeList(sessions.values(), (target, session) -> session.encode(target));
        encoder.writeList(inodes.values(), (target, inode) -> inode.encode(target));
    }

    /**
     * Reads a snapshot.
     *
     * @throws VolumeException if the snapshot is malformed, or its content is inconsistent
     */
    public static Namespace decode(Decoder decoder) throws VolumeException {
        var data =
                new Range(
                        decoder.readCount("a data block"), decoder.readCount("a number of blocks"));
        var namespace = new Namespace(data);
        namespace.nextId = decoder.readCount("a file number");
        for (var session : decoder.readList(MAX_SESSIONS, SessionRecord::decode)) {
            namespace.sessions.put(session.id(), session);
        }
        for (var inode : decoder.readList(MAX_INODES, Inode::decode)) {
            if (namespace.inodes.containsKey(inode.attributes.id())) {
                throw invalid("File %d is stored twice".formatted(inode.attributes.id()));
            }
            namespace.put(inode);
            for (var extent : inode.extents.extents()) {
                namespace.free.take(new Range(extent.driveBlock(), extent.blocks()));
            }
        }
        decoder.end();
        for (var inode : namespace.inodes.values()) {
            if (inode.parent != 0
                    && namespace
                                    .folder(inode.parent)
                                    .children
                                    .put(inode.name, inode.attributes.id())
                            != null) {
                throw invalid("The name \"%s\" is used twice in a folder".formatted(inode.name));
            }
        }
        var _ = namespace.folder(ROOT);
        return namespace;
    }
}
