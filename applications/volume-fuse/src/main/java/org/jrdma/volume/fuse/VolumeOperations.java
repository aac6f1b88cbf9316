package org.jrdma.volume.fuse;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.cryptomator.jfuse.api.DirFiller;
import org.cryptomator.jfuse.api.Errno;
import org.cryptomator.jfuse.api.FileInfo;
import org.cryptomator.jfuse.api.FuseOperations;
import org.cryptomator.jfuse.api.Stat;
import org.cryptomator.jfuse.api.Statvfs;
import org.cryptomator.jfuse.api.TimeSpec;
import org.jrdma.volume.client.FileHandle;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.metadata.Names;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes the requests of the kernel with a client of a volume. The methods return 0 or a number
 * of bytes, or a negative errno.
 *
 * <p>Safe for use by multiple threads: libfuse calls from several.
 */
final class VolumeOperations implements FuseOperations {

    private static final Logger LOG = LoggerFactory.getLogger(VolumeOperations.class);

    private static final int PERMISSIONS = 07777;
    private static final int RENAME_NOREPLACE = 1;
    private static final int NO_CHANGE = -1;

    // errno values of Linux that the library does not define
    private static final int EPERM = 1;
    private static final int EAGAIN = 11;
    private static final int ENOSPC = 28;
    private static final int EILSEQ = 84;

    /** A file that a process has opened. */
    private record Opened(FileHandle handle, AtomicBoolean isWritten) {}

    /** Thrown if a name cannot be stored. */
    private static final class InvalidNameException extends IOException {

        private static final long serialVersionUID = 1L;

        private final int errno;

        private InvalidNameException(int errno) {
            super("Invalid name");
            this.errno = errno;
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
        // the default methods refuse some operations with ENOSYS, and must not refuse these
        return EnumSet.complementOf(EnumSet.of(Operation.INIT, Operation.OPEN_DIR));
    }

    @FunctionalInterface
    private interface Request {
        int run() throws IOException;
    }

    @FunctionalInterface
    private interface Action {
        void run() throws IOException;
    }

    private int run(Action action) {
        return call(() -> {
            action.run();
            return 0;
        });
    }

    /** Native code has called this method, so an exception that it throws would end the JVM. */
    private int call(Request request) {
        try {
            return request.run();
        } catch (InvalidNameException e) {
            return -e.errno;
        } catch (VolumeException e) {
            var error = error(e);
            if (error == errno.eio()) {
                LOG.warn("A request failed: {}", e.getMessage());
            }
            return -error;
        } catch (IOException e) {
            LOG.warn("A request failed: {}", e.getMessage());
            return -errno.eio();
        } catch (RuntimeException | Error e) {
            LOG.warn("A request failed", e);
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
            case UNAVAILABLE, SESSION_LOST, NOT_COORDINATOR, MALFORMED, DATA_LOST -> errno.eio();
        };
    }

    private FilePath path(String text) throws InvalidNameException {
        if (text.indexOf('\uFFFD') >= 0) { // the library has replaced bytes that are not UTF-8
            throw new InvalidNameException(EILSEQ);
        }
        var path = FilePath.of(text);
        for (var name : path.names()) {
            if (name.getBytes(StandardCharsets.UTF_8).length > Names.MAX_BYTES) {
                throw new InvalidNameException(errno.enametoolong());
            }
        }
        return path;
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
        return run(() -> {
            var attributes = client.attributes(path(path));
            var type = attributes.isFolder() ? Stat.S_IFDIR : Stat.S_IFREG;
            var modified = Instant.EPOCH.plusNanos(attributes.modified());
            stat.setMode(type | (attributes.mode() & PERMISSIONS));
            stat.setNLink((short) 1);
            stat.setUid(user);
            stat.setGid(group);
            stat.setSize(attributes.size());
            stat.mTime().set(modified);
            stat.aTime().set(modified);
            stat.cTime().set(modified);
        });
    }

    @Override
    public int readdir(String path, DirFiller filler, long offset, FileInfo info, int flags) {
        return run(() -> {
            filler.fill(".");
            filler.fill("..");
            var folder = path(path);
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

    @Override
    public int mkdir(String path, int mode) {
        return run(() -> client.createFolder(path(path), mode & PERMISSIONS));
    }

    @Override
    public int create(String path, int mode, FileInfo info) {
        var isNew = info.getOpenFlags().contains(StandardOpenOption.CREATE_NEW);
        var creation = isNew ? Creation.NEW : Creation.IF_MISSING;
        return run(() -> open(path(path), info, creation, mode & PERMISSIONS));
    }

    @Override
    public int open(String path, FileInfo info) {
        return run(() -> open(path(path), info, Creation.EXISTING, 0));
    }

    private void open(FilePath path, FileInfo info, Creation creation, int mode)
            throws IOException {
        var handle = client.open(path, creation, mode);
        var isOpen = false;
        try {
            if (creation != Creation.NEW
                    && info.getOpenFlags().contains(StandardOpenOption.TRUNCATE_EXISTING)) {
                handle.truncate(0);
            }
            var number = lastFile.incrementAndGet();
            files.put(number, new Opened(handle, new AtomicBoolean()));
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
        return call(() -> opened(info).handle.read(position, MemorySegment.ofBuffer(target)));
    }

    @Override
    public int write(String path, ByteBuffer source, long count, long position, FileInfo info) {
        return call(() -> {
            var file = opened(info);
            var bytes = MemorySegment.ofBuffer(source);
            file.isWritten.set(true);
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
        return run(() -> {
            if (info != null) {
                opened(info).handle.truncate(size);
                return;
            }
            try (var handle = client.open(path(path), Creation.EXISTING, 0)) {
                handle.truncate(size);
            }
        });
    }

    /** Called by each close(2), which returns the result. */
    @Override
    public int flush(String path, FileInfo info) {
        return run(() -> {
            var file = opened(info);
            if (file.isWritten.getAndSet(false)) {
                file.handle.force();
            }
        });
    }

    @Override
    public int fsync(String path, int datasync, FileInfo info) {
        return run(() -> opened(info).handle.force());
    }

    /** Does nothing: a change of a folder is durable before its request returns. */
    @Override
    public int fsyncdir(@Nullable String path, int datasync, FileInfo info) {
        return 0;
    }

    @Override
    public int release(String path, FileInfo info) {
        return run(() -> {
            var file = files.remove(info.getFh());
            if (file != null) {
                file.handle.close();
            }
        });
    }

    @Override
    public int unlink(String path) {
        return run(() -> client.remove(path(path)));
    }

    @Override
    public int rmdir(String path) {
        return unlink(path);
    }

    /** Refuses flags without support as renameat2(2) documents. */
    @Override
    public int rename(String from, String to, int flags) {
        return (flags & ~RENAME_NOREPLACE) != 0
                ? -errno.einval()
                : run(() -> client.rename(path(from), path(to), flags == 0));
    }

    /** Refuses symbolic links as symlink(2) documents. The kernel refuses hard links itself. */
    @Override
    public int symlink(String name, String target) {
        return -EPERM;
    }

    @Override
    public int chmod(String path, int mode, @Nullable FileInfo info) {
        var permissions = OptionalInt.of(mode & PERMISSIONS);
        return run(() -> client.setAttributes(path(path), permissions, OptionalLong.empty()));
    }

    /** Accepts only the owner and group that all files have. */
    @Override
    public int chown(String path, int newUser, int newGroup, @Nullable FileInfo info) {
        var isSameUser = newUser == NO_CHANGE || newUser == user;
        var isSameGroup = newGroup == NO_CHANGE || newGroup == group;
        return isSameUser && isSameGroup ? 0 : -EPERM;
    }

    /**
     * Sets the time of modification, or the nearest time between the years 1677 and 2262. A volume
     * does not record the time of access.
     */
    @Override
    public int utimens(String path, TimeSpec accessed, TimeSpec modified, @Nullable FileInfo info) {
        return run(() -> {
            var time = modified.getOptional();
            if (time.isPresent()) {
                var nanos = OptionalLong.of(FileTime.from(time.get()).to(TimeUnit.NANOSECONDS));
                client.setAttributes(path(path), OptionalInt.empty(), nanos);
            }
        });
    }

    @Override
    public int statfs(String path, Statvfs result) {
        return run(() -> {
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
