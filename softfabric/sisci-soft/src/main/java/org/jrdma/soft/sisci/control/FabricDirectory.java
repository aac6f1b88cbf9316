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
 * The directory that makes processes one fabric. Whoever changes what is in it holds its lock,
 * which ends with the process; a process that was killed is known by its socket, which nobody
 * answers. Numbers of processes say nothing, since containers that share a directory do not share
 * those.
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

    /** The file's lock is the process's, this one is the thread's. */
    private final ReentrantLock lock = new ReentrantLock();

    private boolean closed;

    private FabricDirectory(Path path, int descriptor) {
        this.path = path;
        this.descriptor = descriptor;
    }

    /**
     * Opens a directory, which is made where it is not there, for this user alone.
     *
     * @param isOwn whether it must be this user's alone where it is there: in a place where anyone
     *     can make directories, by a name that anyone knows
     */
    public static FabricDirectory open(Path path, boolean isOwn) throws FabricException {
        try {
            if (!Files.isDirectory(path)) {
                Files.createDirectories(path, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            } else if (isOwn) {
                checkOwn(path);
            }
        } catch (FabricException e) {
            throw e;
        } catch (IOException e) {
            throw new FabricException(
                    "The fabric's directory %s cannot be made: %s".formatted(path, e));
        }
        return new FabricDirectory(path, Host.openDirectory(path.toString()));
    }

    private static void checkOwn(Path path) throws IOException, FabricException {
        var found = Files.readAttributes(path, PosixFileAttributes.class, NOFOLLOW_LINKS);
        var self = Files.getOwner(Path.of("/proc/self"));
        if (!found.isDirectory()
                || !found.owner().equals(self)
                || !found.permissions().equals(OWNER_ONLY)) {
            throw new FabricException(
                    "%s is not this user's alone (%s, of %s). Say which directory is the fabric, by jrdma.sisci.fabric."
                            .formatted(
                                    path,
                                    PosixFilePermissions.toString(found.permissions()),
                                    found.owner()));
        }
    }

    /** What is done while nobody else changes the directory. */
    @FunctionalInterface
    public interface Change<T> {
        /** Does it. */
        T make() throws FabricException;
    }

    /** Makes a change; a thread that makes one may make another within. */
    public <T> T locked(Change<T> change) throws FabricException {
        lock.lock();
        try {
            if (closed) {
                throw new FabricException("This process has left " + path);
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
                throw deadline.missed("Another process did not let go of " + path);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** What is there now. */
    public List<Entry> entries() throws FabricException {
        try (var files = Files.list(path)) {
            return files.map(file -> Entry.of(file.getFileName().toString()))
                    .flatMap(Optional::stream)
                    .toList();
        } catch (IOException e) {
            throw new FabricException("%s cannot be read: %s".formatted(path, e));
        }
    }

    /**
     * What is there of that number, whosever it is. Reads names, of which there may be thousands.
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
            throw new FabricException("%s cannot be read: %s".formatted(path, e));
        }
    }

    /** A path that is short enough for a socket, however deep the directory is. */
    String path(Entry entry) {
        return "/proc/self/fd/%s/%s".formatted(descriptor, entry.name());
    }

    /** Makes a file with memory; its descriptor. Needs the lock. */
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

    /** Makes a file that says something by being there. Needs the lock. */
    public void mark(Entry entry) throws FabricException {
        Host.close(create(entry, 0));
    }

    /**
     * Opens a file's memory; its descriptor. One that is shorter than it should be is another's:
     * who touched what it lacks would get a SIGBUS.
     */
    public int openMemory(Entry entry, long leastBytes) throws FabricException {
        var file = Host.openFile(path(entry));
        try {
            var bytes = Host.fileBytes(file);
            if (bytes < leastBytes) {
                throw new FabricException(
                        String.format(
                                Locale.ROOT,
                                "%s has %,d bytes instead of %,d",
                                entry.name(),
                                bytes,
                                leastBytes));
            }
            return file;
        } catch (FabricException e) {
            Host.close(file);
            throw e;
        }
    }

    /** Makes it unfindable. Memory lasts until the last who has it lets go. */
    public void delete(Entry entry) throws FabricException {
        try {
            Files.deleteIfExists(path.resolve(entry.name()));
        } catch (IOException e) {
            throw new FabricException("%s cannot be deleted: %s".formatted(entry.name(), e));
        }
    }

    /** Deletes what belongs to processes that are no more. */
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
                var goes =
                        entry.kind() == Entry.Kind.CUT // outlives the process that cut it
                                ? !nodes.contains(entry.node())
                                : !alive.contains(Entry.ofMember(entry.node(), entry.member()));
                if (goes) {
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
                case Errno.EAGAIN -> true; // many are waiting to be let in
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
