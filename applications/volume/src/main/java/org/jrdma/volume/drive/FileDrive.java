package org.jrdma.volume.drive;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jspecify.annotations.Nullable;

/**
 * A plain file as a drive. Several processes of one host can open it at the same time.
 *
 * <p>The file is mapped, because an interrupt of a thread closes a {@link FileChannel}. Calls take
 * as long as the file system needs.
 *
 * <p>If a flush fails, all later flushes fail, until the file is opened again. The system reports
 * the loss of written data to one flush only, so that a later or concurrent flush would succeed.
 */
public final class FileDrive implements Drive {

    private final Path file;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final Consumer<MemorySegment> force;
    private @Nullable VolumeException failedFlush;

    /** Prevents close() from unmapping the file during a call. */
    private final ReentrantReadWriteLock lifetime = new ReentrantReadWriteLock();

    private FileDrive(Path file, Consumer<MemorySegment> force) throws VolumeException {
        this.file = file;
        this.force = force;
        try (var channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            var bytes = channel.size() / BLOCK_BYTES * BLOCK_BYTES;
            if (bytes == 0) {
                throw Drive.tooSmall(file.toString(), channel.size());
            }
            this.memory = channel.map(MapMode.READ_WRITE, 0, bytes, arena);
        } catch (VolumeException e) {
            arena.close();
            throw e;
        } catch (IOException e) {
            arena.close();
            throw new VolumeException("Cannot open the drive %s: %s".formatted(file, e), e);
        }
    }

    /**
     * Creates a file with zeroed blocks. The file system allocates its space when it is written.
     *
     * @throws VolumeException if the file exists or cannot be created
     */
    public static FileDrive create(Path file, long blocks) throws VolumeException {
        try (var channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.SPARSE,
                        StandardOpenOption.WRITE)) {
            var size = Math.multiplyExact(blocks, BLOCK_BYTES);
            if (size > 0) {
                var _ = channel.write(java.nio.ByteBuffer.allocate(1), size - 1);
            }
        } catch (NoSuchFileException e) {
            throw new VolumeException(
                    "Cannot create the drive %s: the folder %s does not exist"
                            .formatted(file, file.toAbsolutePath().getParent()),
                    e);
        } catch (IOException e) {
            throw new VolumeException("Cannot create the drive %s: %s".formatted(file, e), e);
        }
        return open(file);
    }

    /**
     * Opens an existing file. An incomplete block at its end is ignored.
     *
     * @throws VolumeException if the file cannot be opened or has no block
     */
    public static FileDrive open(Path file) throws VolumeException {
        return open(file, MemorySegment::force);
    }

    /**
     * Opens an existing file.
     *
     * @param force makes mapped memory durable
     */
    static FileDrive open(Path file, Consumer<MemorySegment> force) throws VolumeException {
        if (!Files.isRegularFile(file)) {
            throw new VolumeException(
                    "Cannot open the drive %s: it %s"
                            .formatted(
                                    file,
                                    Files.exists(file)
                                            ? "is not a regular file"
                                            : "does not exist"));
        }
        return new FileDrive(file, force);
    }

    @Override
    public long blocks() {
        return memory.byteSize() / BLOCK_BYTES;
    }

    @Override
    public void read(long block, MemorySegment target) throws VolumeException {
        Drive.checkRange(this, block, target);
        access(
                "read",
                () ->
                        MemorySegment.copy(
                                memory, block * BLOCK_BYTES, target, 0, target.byteSize()));
    }

    @Override
    public void write(long block, MemorySegment source) throws VolumeException {
        Drive.checkRange(this, block, source);
        access(
                "write",
                () ->
                        MemorySegment.copy(
                                source, 0, memory, block * BLOCK_BYTES, source.byteSize()));
    }

    @Override
    public synchronized void flush() throws VolumeException {
        if (failedFlush == null) {
            try {
                access("flush", () -> force.accept(memory));
                return;
            } catch (VolumeException e) {
                failedFlush = e;
            }
        }
        throw new VolumeException(
                Failure.DATA_LOST,
                "A flush of %s has failed, so that written data may be lost. Open the drive again."
                        .formatted(file),
                failedFlush);
    }

    private void access(String operation, Runnable access) throws VolumeException {
        lifetime.readLock().lock();
        try {
            access.run();
        } catch (InternalError | UncheckedIOException e) {
            // InternalError: the JVM reports SIGBUS, as for a file that another process truncated
            throw new VolumeException(
                    "The %s of %s failed. Was the file truncated, or is its file system full?"
                            .formatted(operation, file),
                    e);
        } finally {
            lifetime.readLock().unlock();
        }
    }

    @Override
    public Fence fence() {
        return Fence.BY_CLOCK;
    }

    @Override
    public void close() {
        lifetime.writeLock().lock();
        try {
            if (arena.scope().isAlive()) {
                arena.close();
            }
        } finally {
            lifetime.writeLock().unlock();
        }
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
