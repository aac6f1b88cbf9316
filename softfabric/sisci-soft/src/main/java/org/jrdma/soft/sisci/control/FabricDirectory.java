package org.jrdma.soft.sisci.control;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
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
import org.jrdma.soft.sisci.host.Host;
import org.jrdma.soft.sisci.host.PacketSocket;

/**
 * The directory that the processes of a fabric share. A process holds the lock of the directory
 * while it changes files; the system releases the lock when the process ends. A killed process is
 * detected because its socket refuses connections. Process ids are not used for this purpose,
 * because containers that share a directory may have different PID namespaces.
 *
 * <p>Safe for use by multiple threads.
 */
public final class FabricDirectory implements AutoCloseable {

    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rwx------");
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(10);
    private static final long PAUSE_NANOS = 200_000;

    private final Path path;
    private final int descriptor;

    /** Excludes other threads of this process. The file lock only excludes other processes. */
    private final ReentrantLock lock = new ReentrantLock();

    private boolean closed;

    private FabricDirectory(Path path, int descriptor) {
        this.path = path;
        this.descriptor = descriptor;
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
            } else if (mustBePrivate) {
                checkPrivate(path);
            }
        } catch (FabricException e) {
            throw e;
        } catch (IOException e) {
            throw new FabricException(
                    "Cannot create the directory %s of the fabric: %s".formatted(path, e));
        }
        return new FabricDirectory(path, Host.openDirectory(path.toString()));
    }

    private static void checkPrivate(Path path) throws IOException, FabricException {
        var found = Files.readAttributes(path, PosixFileAttributes.class, NOFOLLOW_LINKS);
        var self = Files.getOwner(Path.of("/proc/self"));
        if (!found.isDirectory()
                || !found.owner().equals(self)
                || !found.permissions().equals(OWNER_ONLY)) {
            throw new FabricException(
                    "Cannot use the directory %s for the fabric: its permissions are %s and its owner is %s, but only this user may have access. Set another directory with -Djrdma.sisci.fabric."
                            .formatted(
                                    path,
                                    PosixFilePermissions.toString(found.permissions()),
                                    found.owner()));
        }
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
                    Host.unlock(descriptor);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void lockFile() throws FabricException {
        var deadline = Deadline.after(LOCK_TIMEOUT);
        while (!Host.tryLock(descriptor)) {
            if (deadline.hasPassed()) {
                throw deadline.missed("Another process did not release the lock of " + path);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    public List<Entry> entries() throws FabricException {
        try (var files = Files.list(path)) {
            return files.map(file -> Entry.of(file.getFileName().toString()))
                    .flatMap(Optional::stream)
                    .toList();
        } catch (IOException e) {
            throw new FabricException("Cannot read the directory %s: %s".formatted(path, e));
        }
    }

    /**
     * Finds the file of an object by the number of the object. Reads the names of all files, which
     * may be thousands.
     */
    public Optional<Entry> find(int node, Entry.Kind kind, int number) throws FabricException {
        var start = Entry.startOfName(node, kind, number);
        try (var files = Files.newDirectoryStream(path)) {
            for (var file : files) {
                var name = file.getFileName().toString();
                if (name.startsWith(start)) {
                    var entry = Entry.of(name);
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
    String path(Entry entry) {
        return "/proc/self/fd/%s/%s".formatted(descriptor, entry.name());
    }

    /**
     * Creates a file, allocates memory for its contents and returns its file descriptor. The caller
     * must hold the lock.
     */
    public int create(Entry entry, long bytes) throws FabricException {
        var file = Host.createFile(path(entry));
        try {
            if (bytes > 0) {
                Host.reserve(file, bytes);
            }
            return file;
        } catch (FabricException e) {
            Host.close(file);
            delete(entry);
            throw e;
        }
    }

    /** Creates an empty file. The caller must hold the lock. */
    public void mark(Entry entry) throws FabricException {
        Host.close(create(entry, 0));
    }

    /**
     * Opens the file of a segment and returns its file descriptor. Rejects a file that is too
     * short, because access to mapped memory beyond its end would raise SIGBUS.
     */
    public int openMemory(Entry entry, long minBytes) throws FabricException {
        var file = Host.openFile(path(entry));
        try {
            var bytes = Host.fileBytes(file);
            if (bytes < minBytes) {
                throw new FabricException(
                        String.format(
                                Locale.ROOT,
                                "The file %s has %,d bytes instead of %,d.",
                                entry.name(),
                                bytes,
                                minBytes));
            }
            return file;
        } catch (FabricException e) {
            Host.close(file);
            throw e;
        }
    }

    /** Deletes a file. Its memory remains until the last process has closed and unmapped it. */
    public void delete(Entry entry) throws FabricException {
        try {
            Files.deleteIfExists(path.resolve(entry.name()));
        } catch (IOException e) {
            throw new FabricException("Cannot delete %s: %s".formatted(entry.name(), e));
        }
    }

    /** Deletes the files of processes that have ended. */
    public void sweep() throws FabricException {
        locked(() -> {
            var alive = new HashSet<Entry>();
            var nodes = new HashSet<Integer>();
            for (var entry : entries()) {
                if (entry.kind() == Entry.Kind.MEMBER && isAlive(entry)) {
                    alive.add(entry);
                    nodes.add(entry.node());
                }
            }
            for (var entry : entries()) {
                // A cut of a link remains until the last process of the node ends.
                var isStale =
                        entry.kind() == Entry.Kind.CUT
                                ? !nodes.contains(entry.node())
                                : !alive.contains(Entry.ofMember(entry.node(), entry.member()));
                if (isStale) {
                    delete(entry);
                }
            }
            return alive;
        });
    }

    private boolean isAlive(Entry member) throws FabricException {
        try {
            Host.close(PacketSocket.connect(path(member)));
            return true;
        } catch (FabricException e) {
            return switch (e.code()) {
                case Errno.EAGAIN -> true; // the process is alive, but its backlog is full
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
            Host.close(descriptor);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
