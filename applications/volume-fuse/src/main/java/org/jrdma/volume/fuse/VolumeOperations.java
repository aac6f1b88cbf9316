package org.jrdma.volume.fuse;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.cryptomator.jfuse.api.DirFiller;
import org.cryptomator.jfuse.api.Errno;
import org.cryptomator.jfuse.api.FileInfo;
import org.cryptomator.jfuse.api.FuseOperations;
import org.cryptomator.jfuse.api.Stat;
import org.cryptomator.jfuse.api.Statvfs;
import org.cryptomator.jfuse.api.TimeSpec;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.FileHandle;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.metadata.Attributes;
import org.jrdma.volume.metadata.Names;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes the file system requests of the kernel with a client of a volume. Each method returns 0
 * or a number of bytes, or a negative errno.
 *
 * <p>The kernel caches neither data nor attributes nor names, because other clients change them.
 * Safe for use by multiple threads: libfuse calls from several.
 */
final class VolumeOperations implements FuseOperations {

    private static final Logger LOG = LoggerFactory.getLogger(VolumeOperations.class);
    private static final int PERMISSIONS = 07777;
    private static final int RENAME_NOREPLACE = 1;
    private static final long NANOS = 1_000_000_000L;

    /** The name of bytes that are not UTF-8, as the library decodes them. */
    private static final char REPLACEMENT = '\uFFFD';

    // errno values of Linux that the library does not define
    private static final int EPERM = 1;
    private static final int EAGAIN = 11;
    private static final int ENOSPC = 28;
    private static final int EILSEQ = 84;

    /** A file that a process has opened. */
    private static final class Opened {

        private final FileHandle handle;
        private volatile boolean isWritten;

        private Opened(FileHandle handle) {
            this.handle = handle;
        }
    }

    private final VolumeClient client;
    private final Errno errno;
    private final int user;
    private final int group;
    private final Map<Long, Opened> files = new ConcurrentHashMap<>();
    private final AtomicLong lastFile = new AtomicLong();

    /**
     * @param user the owner of all files, because a volume has no owners
     * @param group the group of all files
     */
    VolumeOperations(VolumeClient client, Errno errno, int user, int group) {
        this.client = client;
        this.errno = errno;
        this.user = user;
        this.group = group;
    }

    @Override
    public Errno errno() {
        return errno;
    }

    @Override
    public Set<Operation> supportedOperations() {
        return EnumSet.of(
                Operation.CHMOD,
                Operation.CHOWN,
                Operation.CREATE,
                Operation.FLUSH,
                Operation.FSYNC,
                Operation.FSYNCDIR,
                Operation.GET_ATTR,
                Operation.MKDIR,
                Operation.OPEN,
                Operation.READ,
                Operation.READ_DIR,
                Operation.RELEASE,
                Operation.RENAME,
                Operation.RMDIR,
                Operation.STATFS,
                Operation.SYMLINK,
                Operation.TRUNCATE,
                Operation.UNLINK,
                Operation.UTIMENS,
                Operation.WRITE);
    }

    /** A request of the kernel. Returns 0, a number of bytes, or a negative errno. */
    @FunctionalInterface
    private interface Request {
        int run() throws IOException;
    }

    @FunctionalInterface
    private interface Action {
        void run() throws IOException;
    }

    private int run(Operation operation, String path, Action action) {
        return call(
                operation,
                path,
                () -> {
                    action.run();
                    return 0;
                });
    }

    /** An exception that left this method would end the JVM, because native code has called it. */
    @SuppressWarnings("CatchingUnchecked")
    private int call(Operation operation, String path, Request request) {
        try {
            return request.run();
        } catch (VolumeException e) {
            var error = error(e);
            if (error == errno.eio()) {
                LOG.warn("{} of {} failed", operation, path, e);
            }
            return -error;
        } catch (IOException | RuntimeException | Error e) {
            LOG.warn("{} of {} failed", operation, path, e);
            return -errno.eio();
        }
    }

    private int error(VolumeException e) {
        return switch (e.failure()) {
            case NOT_FOUND -> errno.enoent();
            case EXISTS -> errno.eexist();
            case NOT_EMPTY -> errno.enotempty();
            case NOT_A_FOLDER -> errno.enotdir();
            case IS_A_FOLDER -> errno.eisdir();
            case NO_SPACE -> ENOSPC;
            case INVALID -> errno.einval();
            case LOCKED -> EAGAIN;
            case UNAVAILABLE, SESSION_LOST, NOT_COORDINATOR, MALFORMED -> errno.eio();
        };
    }

    private Opened opened(FileInfo info) {
        var file = files.get(info.getFh());
        if (file == null) {
            throw new IllegalStateException("The kernel uses a file that it has closed");
        }
        return file;
    }

    @Override
    public int getattr(String path, Stat stat, @Nullable FileInfo info) {
        return run(
                Operation.GET_ATTR, path, () -> fill(stat, client.attributes(FilePath.of(path))));
    }

    private void fill(Stat stat, Attributes attributes) {
        var type = attributes.isFolder() ? Stat.S_IFDIR : Stat.S_IFREG;
        stat.setMode(type | (attributes.mode() & PERMISSIONS));
        stat.setNLink((short) 1);
        stat.setUid(user);
        stat.setGid(group);
        stat.setSize(attributes.size());
        var modified =
                Instant.ofEpochSecond(
                        Math.floorDiv(attributes.modified(), NANOS),
                        Math.floorMod(attributes.modified(), NANOS));
        stat.mTime().set(modified);
        stat.aTime().set(modified);
        stat.cTime().set(modified);
    }

    @Override
    public int readdir(String path, DirFiller filler, long offset, FileInfo info, int flags) {
        return run(
                Operation.READ_DIR,
                path,
                () -> {
                    filler.fill(".");
                    filler.fill("..");
                    var folder = FilePath.of(path);
                    var entries = client.list(folder, "");
                    while (!entries.isEmpty()) {
                        for (var entry : entries) {
                            var type = entry.isFolder() ? Stat.S_IFDIR : Stat.S_IFREG;
                            filler.fill(entry.name(), stat -> stat.setMode(type));
                        }
                        entries = client.list(folder, entries.getLast().name());
                    }
                });
    }

    /** Checks the name of a file that is created. Returns 0 or a negative errno. */
    private int checkName(String path) {
        var name = path.substring(path.lastIndexOf('/') + 1);
        if (name.indexOf(REPLACEMENT) >= 0) {
            return -EILSEQ; // two names that are not UTF-8 could otherwise become one
        }
        return name.getBytes(java.nio.charset.StandardCharsets.UTF_8).length > Names.MAX_BYTES
                ? -errno.enametoolong()
                : 0;
    }

    private int runWithNewName(Operation operation, String path, Action action) {
        var error = checkName(path);
        return error != 0 ? error : run(operation, path, action);
    }

    @Override
    public int mkdir(String path, int mode) {
        return runWithNewName(
                Operation.MKDIR,
                path,
                () -> client.createFolder(FilePath.of(path), mode & PERMISSIONS));
    }

    @Override
    public int create(String path, int mode, FileInfo info) {
        var isNew = info.getOpenFlags().contains(StandardOpenOption.CREATE_NEW);
        return runWithNewName(
                Operation.CREATE,
                path,
                () ->
                        open(
                                path,
                                info,
                                isNew ? Creation.NEW : Creation.IF_MISSING,
                                mode & PERMISSIONS));
    }

    @Override
    public int open(String path, FileInfo info) {
        return run(Operation.OPEN, path, () -> open(path, info, Creation.EXISTING, 0));
    }

    private void open(String path, FileInfo info, Creation creation, int mode)
            throws FabricException {
        var handle = client.open(FilePath.of(path), creation, mode);
        var isOpen = false;
        try {
            if (creation != Creation.NEW
                    && info.getOpenFlags().contains(StandardOpenOption.TRUNCATE_EXISTING)) {
                handle.truncate(0);
            }
            var number = lastFile.incrementAndGet();
            files.put(number, new Opened(handle));
            info.setFh(number);
            isOpen = true;
        } finally {
            if (!isOpen) {
                handle.close();
            }
        }
    }

    @Override
    public int read(String path, ByteBuffer target, long count, long position, FileInfo info) {
        return call(
                Operation.READ,
                path,
                () -> opened(info).handle.read(position, MemorySegment.ofBuffer(target)));
    }

    @Override
    public int write(String path, ByteBuffer source, long count, long position, FileInfo info) {
        return call(
                Operation.WRITE,
                path,
                () -> {
                    var file = opened(info);
                    var bytes = MemorySegment.ofBuffer(source);
                    file.isWritten = true;
                    if (info.getOpenFlags().contains(StandardOpenOption.APPEND)) {
                        var _ = file.handle.append(bytes);
                    } else {
                        file.handle.write(position, bytes);
                    }
                    return (int) count;
                });
    }

    @Override
    public int truncate(String path, long size, @Nullable FileInfo info) {
        return run(
                Operation.TRUNCATE,
                path,
                () -> {
                    if (info != null) {
                        opened(info).handle.truncate(size);
                        return;
                    }
                    try (var handle = client.open(FilePath.of(path), Creation.EXISTING, 0)) {
                        handle.truncate(size);
                    }
                });
    }

    /** Called by each close(2), whose caller receives the result. */
    @Override
    public int flush(String path, FileInfo info) {
        return run(
                Operation.FLUSH,
                path,
                () -> {
                    var file = opened(info);
                    if (file.isWritten) {
                        file.isWritten = false;
                        file.handle.force();
                    }
                });
    }

    @Override
    public int fsync(String path, int datasync, FileInfo info) {
        return run(Operation.FSYNC, path, () -> opened(info).handle.force());
    }

    /** Does nothing: a change of a folder is durable before its request returns. */
    @Override
    public int fsyncdir(@Nullable String path, int datasync, FileInfo info) {
        return 0;
    }

    @Override
    public int release(String path, FileInfo info) {
        return run(
                Operation.RELEASE,
                path,
                () -> {
                    var file = files.remove(info.getFh());
                    if (file != null) {
                        file.handle.close();
                    }
                });
    }

    @Override
    public int unlink(String path) {
        return run(Operation.UNLINK, path, () -> client.remove(FilePath.of(path)));
    }

    @Override
    public int rmdir(String path) {
        return run(Operation.RMDIR, path, () -> client.remove(FilePath.of(path)));
    }

    @Override
    public int rename(String from, String to, int flags) {
        if ((flags & ~RENAME_NOREPLACE) != 0) {
            return -errno.einval(); // as renameat2(2) documents for flags without support
        }
        return runWithNewName(
                Operation.RENAME,
                to,
                () -> client.rename(FilePath.of(from), FilePath.of(to), flags == 0));
    }

    /** Refuses symbolic links as symlink(2) documents. The kernel refuses hard links itself. */
    @Override
    public int symlink(String name, String target) {
        return -EPERM;
    }

    @Override
    public int chmod(String path, int mode, @Nullable FileInfo info) {
        return run(
                Operation.CHMOD,
                path,
                () ->
                        client.setAttributes(
                                FilePath.of(path),
                                OptionalInt.of(mode & PERMISSIONS),
                                OptionalLong.empty()));
    }

    /** Accepts the owner and group that all files have. The value -1 means no change. */
    @Override
    public int chown(String path, int newUser, int newGroup, @Nullable FileInfo info) {
        var isUnchanged =
                (newUser == -1 || newUser == user) && (newGroup == -1 || newGroup == group);
        return isUnchanged ? 0 : -EPERM;
    }

    /** Sets the time of modification. A volume does not record the time of access. */
    @Override
    public int utimens(String path, TimeSpec accessed, TimeSpec modified, @Nullable FileInfo info) {
        return run(
                Operation.UTIMENS,
                path,
                () -> {
                    var time = modified.getOptional();
                    if (time.isPresent()) {
                        client.setAttributes(
                                FilePath.of(path),
                                OptionalInt.empty(),
                                OptionalLong.of(nanos(time.get())));
                    }
                });
    }

    private static long nanos(Instant time) {
        return time.getEpochSecond() * NANOS + time.getNano();
    }

    @Override
    public int statfs(String path, Statvfs result) {
        return run(
                Operation.STATFS,
                path,
                () -> {
                    var capacity = client.capacity();
                    result.setBsize(Drive.BLOCK_BYTES);
                    result.setFrsize(Drive.BLOCK_BYTES);
                    result.setBlocks(capacity.blocks());
                    result.setBfree(capacity.free());
                    result.setBavail(capacity.free());
                    result.setNameMax(Names.MAX_BYTES);
                });
    }
}
