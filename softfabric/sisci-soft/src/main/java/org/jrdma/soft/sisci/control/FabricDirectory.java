package org.jrdma.soft.sisci.control;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.SealedMemory;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.sisci.host.SystemCalls;

/**
 * The file system directory by which the processes of a fabric find each other and their objects. A
 * process holds the lock of the directory while it changes files; the system releases the lock when
 * the process ends. A killed process is detected because its socket refuses connections. Process
 * ids are not used for this purpose, because containers that share a directory may have different
 * PID namespaces.
 *
 * <p>Safe for use by multiple threads.
 */
public final class FabricDirectory implements AutoCloseable {

    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rwx------");
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(10);
    private static final long PAUSE_NANOS = 200_000;
    private static final int CREDIT_PART = 64;

    /** The path of the directory as the program has specified it, for messages. */
    private final Path path;

    private final int descriptor;

    /**
     * A path to the open directory ({@code /proc/self/fd}), which stays valid if the directory is
     * renamed.
     */
    private final Path opened;

    /** Excludes other threads of this process. The file lock only excludes other processes. */
    private final ReentrantLock lock = new ReentrantLock();

    private boolean closed;

    /**
     * The number of bytes that this process may reserve without adding up the sizes of all
     * segments. Guarded by the lock.
     */
    private long credit;

    private FabricDirectory(Path path, int descriptor, Path opened) {
        this.path = path;
        this.descriptor = descriptor;
        this.opened = opened;
    }

    /**
     * Opens a directory. If it does not exist, it is created with access for this user only.
     *
     * @param mustBePrivate true if an existing directory must belong to this user and deny access
     *     to others. This is necessary for a well-known name in a world-writable directory, where
     *     another user could have created it.
     */
    public static FabricDirectory open(Path path, boolean mustBePrivate) throws FabricException {
        try {
            if (!Files.isDirectory(path)) {
                Files.createDirectories(path, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            }
        } catch (IOException e) {
            throw new FabricException(
                    "Cannot create the directory %s of the fabric: %s".formatted(path, e));
        }
        if (mustBePrivate && Files.isSymbolicLink(path)) {
            throw unusable(path, "it is a symbolic link");
        }
        var descriptor = SystemCalls.openDirectory(path.toString(), !mustBePrivate);
        try {
            var opened = Path.of("/proc/self/fd", Integer.toString(descriptor));
            var directory = new FabricDirectory(path, descriptor, opened);
            if (mustBePrivate) {
                directory.checkPrivate();
            }
            return directory;
        } catch (Throwable e) {
            SystemCalls.close(descriptor);
            throw e;
        }
    }

    /**
     * Checks the owner and the permissions of the open directory. Checking the path would not be
     * sufficient, because another user may have replaced the directory before it was opened.
     */
    private void checkPrivate() throws FabricException {
        try {
            checkOwnerAndPermissions();
        } catch (FabricException e) {
            throw e;
        } catch (IOException e) {
            throw new FabricException(
                    "Cannot examine the directory %s of the fabric: %s".formatted(path, e));
        }
    }

    private void checkOwnerAndPermissions() throws IOException {
        var found = Files.readAttributes(opened, PosixFileAttributes.class);
        var self = Files.getOwner(Path.of("/proc/self"));
        if (!found.owner().equals(self) || !found.permissions().equals(OWNER_ONLY)) {
            throw unusable(
                    path,
                    "its permissions are %s and its owner is %s, but only this user may have access"
                            .formatted(
                                    PosixFilePermissions.toString(found.permissions()),
                                    found.owner()));
        }
    }

    private static FabricException unusable(Path path, String reason) {
        return new FabricException(
                "Cannot use the directory %s for the fabric: %s. Set another directory with -Djrdma.sisci.fabric."
                        .formatted(path, reason));
    }

    /** An operation that requires the lock of the directory. */
    @FunctionalInterface
    public interface Change<T> {
        T make() throws FabricException;
    }

    /** Runs an operation while holding the lock. The lock is reentrant. */
    public <T> T locked(Change<T> change) throws FabricException {
        lock.lock();
        try {
            if (closed) {
                throw new FabricException("This process has left the fabric " + path);
            }
            if (lock.getHoldCount() == 1) {
                lockFile();
            }
            try {
                return change.make();
            } finally {
                if (lock.getHoldCount() == 1) {
                    SystemCalls.unlock(descriptor);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void lockFile() throws FabricException {
        var deadline = Deadline.after(LOCK_TIMEOUT);
        while (!SystemCalls.tryLock(descriptor)) {
            if (deadline.hasPassed()) {
                throw deadline.missed("Another process did not release the lock of " + path);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    public List<ObjectAnnouncementFile> entries() throws FabricException {
        try (var files = Files.list(opened)) {
            return files.map(file -> ObjectAnnouncementFile.of(file.getFileName().toString()))
                    .flatMap(Optional::stream)
                    .toList();
        } catch (IOException e) {
            throw new FabricException("Cannot read the directory %s: %s".formatted(path, e));
        }
    }

    /** Returns the files of a process. The file of a cut link belongs to the node, not to it. */
    public List<ObjectAnnouncementFile> entriesOf(int node, int member) throws FabricException {
        return entries().stream()
                .filter(entry -> entry.node() == node && entry.member() == member)
                .filter(entry -> entry.kind() != ObjectAnnouncementFile.Kind.CUT)
                .toList();
    }

    /**
     * Finds the file of an object by the number of the object. Reads the names of all files, which
     * may be thousands.
     */
    public Optional<ObjectAnnouncementFile> find(
            int node, ObjectAnnouncementFile.Kind kind, int number) throws FabricException {
        var start = ObjectAnnouncementFile.startOfName(node, kind, number);
        try (var files = Files.newDirectoryStream(opened)) {
            for (var file : files) {
                var name = file.getFileName().toString();
                if (name.startsWith(start)) {
                    var entry = ObjectAnnouncementFile.of(name);
                    if (entry.isPresent()) {
                        return entry;
                    }
                }
            }
            return Optional.empty();
        } catch (IOException | DirectoryIteratorException e) {
            throw new FabricException("Cannot read the directory %s: %s".formatted(path, e));
        }
    }

    /**
     * Returns a path to a file that is short enough for a socket address, even if the directory's
     * path is long.
     */
    String path(ObjectAnnouncementFile entry) {
        return opened.resolve(entry.name()).toString();
    }

    /** Creates an empty file. The caller must hold the lock. */
    public void mark(ObjectAnnouncementFile entry) throws FabricException {
        SystemCalls.close(SystemCalls.createFile(path(entry)));
    }

    /**
     * Creates the file of a segment, and returns the descriptor of the memory of the segment. The
     * caller must hold the lock.
     *
     * @param bytes the size; 0 if {@link #reserve} is called later
     */
    public int createMemory(ObjectAnnouncementFile entry, long bytes) throws FabricException {
        var memory = SealedMemory.create(path.resolve(entry.name()).toString());
        var created = false;
        try {
            mark(entry);
            if (bytes > 0) {
                created = true;
                reserve(entry, memory, bytes);
            }
            return memory;
        } catch (Throwable e) {
            SystemCalls.close(memory);
            if (created) {
                delete(entry);
            }
            throw e;
        }
    }

    /**
     * Allocates the memory of a segment. The file of the segment in this directory stays empty but
     * gets the same size, so that other processes can add up the sizes. The caller must hold the
     * lock.
     *
     * @throws FabricException with the code ENOSPC if the segments of the fabric would be larger
     *     than the free space of the directory's file system
     */
    public void reserve(ObjectAnnouncementFile entry, int memory, long bytes)
            throws FabricException {
        if (bytes > credit) {
            credit = computeCredit(bytes);
        }
        SealedMemory.reserve(memory, bytes);
        var file = SystemCalls.openFile(path(entry));
        try {
            SystemCalls.setFileBytes(file, bytes);
        } finally {
            SystemCalls.close(file);
        }
        credit = Math.max(0, credit - bytes);
    }

    /**
     * Adds up the sizes of all segments. Returns the number of bytes, in addition to {@code bytes},
     * that this process may reserve before it must add up the sizes again. It is a small part of
     * the free space, because other processes reserve memory too.
     */
    private long computeCredit(long bytes) throws FabricException {
        try (var files = Files.newDirectoryStream(opened)) {
            var free = Files.getFileStore(opened).getUsableSpace();
            for (var file : files) {
                if (ObjectAnnouncementFile.of(file.getFileName().toString())
                        .filter(entry -> hasMemory(entry.kind()))
                        .isPresent()) {
                    free -= Math.min(free, bytesOf(file));
                }
            }
            if (bytes > free) {
                throw new FabricException(
                        String.format(
                                Locale.ROOT,
                                "The directory %s has no space for a segment of %,d bytes: %,d bytes are free.",
                                path,
                                bytes,
                                free),
                        Errno.ENOSPC,
                        null);
            }
            return bytes + (free - bytes) / CREDIT_PART;
        } catch (FabricException e) {
            throw e;
        } catch (IOException | DirectoryIteratorException e) {
            throw new FabricException("Cannot read the directory %s: %s".formatted(path, e));
        }
    }

    private static boolean hasMemory(ObjectAnnouncementFile.Kind kind) {
        return kind == ObjectAnnouncementFile.Kind.SEGMENT
                || kind == ObjectAnnouncementFile.Kind.DEVICE_SEGMENT;
    }

    private static long bytesOf(Path file) throws IOException {
        try {
            return Files.size(file);
        } catch (NoSuchFileException e) {
            return 0; // The segment was removed in the meantime.
        }
    }

    /** Deletes a file. The memory of a segment remains until its last descriptor is closed. */
    public void delete(ObjectAnnouncementFile entry) throws FabricException {
        try {
            Files.deleteIfExists(opened.resolve(entry.name()));
        } catch (IOException e) {
            throw new FabricException("Cannot delete %s: %s".formatted(entry.name(), e));
        }
    }

    /** Makes the JVM delete the files of a process when it exits, after all shutdown hooks. */
    public void deleteOnExit(int node, int member) throws FabricException {
        // The JVM deletes the file that was named first last. Until then, no other process takes
        // the number of the member, and with it the names of the files.
        deleteOnExit(ObjectAnnouncementFile.ofMember(node, member));
        entriesOf(node, member).forEach(this::deleteOnExit);
    }

    private void deleteOnExit(ObjectAnnouncementFile entry) {
        opened.resolve(entry.name()).toFile().deleteOnExit();
    }

    /** Deletes the files of processes that have ended. */
    public void sweep() throws FabricException {
        locked(() -> {
            var alive = new HashSet<ObjectAnnouncementFile>();
            var nodes = new HashSet<Integer>();
            for (var entry : entries()) {
                if (entry.kind() == ObjectAnnouncementFile.Kind.MEMBER && isAlive(entry)) {
                    alive.add(entry);
                    nodes.add(entry.node());
                }
            }
            for (var entry : entries()) {
                // The file of a cut link remains until the last process of the node ends.
                var isStale =
                        entry.kind() == ObjectAnnouncementFile.Kind.CUT
                                ? !nodes.contains(entry.node())
                                : !alive.contains(
                                        ObjectAnnouncementFile.ofMember(
                                                entry.node(), entry.member()));
                if (isStale) {
                    delete(entry);
                }
            }
            return alive;
        });
    }

    private boolean isAlive(ObjectAnnouncementFile member) throws FabricException {
        try {
            SystemCalls.close(SeqPacketSocket.connect(path(member)));
            return true;
        } catch (FabricException e) {
            return switch (e.code()) {
                case Errno.EAGAIN -> true; // The process exists, but its backlog is full.
                case Errno.ECONNREFUSED, Errno.ENOENT -> false;
                default -> throw e;
            };
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            SystemCalls.close(descriptor);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
