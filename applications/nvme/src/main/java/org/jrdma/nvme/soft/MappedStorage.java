package org.jrdma.nvme.soft;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jrdma.nvme.model.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Blocks in memory or in a mapped file. */
final class MappedStorage extends BlockStorage {

    private static final Logger LOG = LoggerFactory.getLogger(MappedStorage.class);

    /** The alignment of memory, which is the largest size of a block. */
    private static final int ALIGNMENT = 4096;

    /** Memory, and the arena that frees or unmaps it. */
    private record Mapping(Arena arena, MemorySegment memory) {

        /** Allocates zeroed memory. */
        static Mapping inMemory(long bytes) {
            var arena = Arena.ofShared();
            try {
                return new Mapping(arena, arena.allocate(bytes, ALIGNMENT));
            } catch (OutOfMemoryError e) {
                arena.close();
                throw e;
            }
        }

        /** Maps the beginning of a file, which is extended if necessary. */
        static Mapping inFile(FileChannel file, long bytes) throws IOException {
            var arena = Arena.ofShared();
            try {
                return new Mapping(
                        arena, file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena));
            } catch (IOException | RuntimeException e) {
                arena.close();
                throw e;
            }
        }
    }

    private final String name;

    /** The file; empty for blocks in memory. Remains the same file if its path is replaced. */
    private final Optional<FileChannel> file;

    private volatile Mapping mapping;
    private boolean failureLogged;

    private MappedStorage(
            String name, Optional<FileChannel> file, Mapping mapping, int blockBytes) {
        super(mapping.memory().byteSize() / blockBytes, Integer.numberOfTrailingZeros(blockBytes));
        this.name = name;
        this.file = file;
        this.mapping = mapping;
    }

    /** Allocates zeroed blocks. */
    static MappedStorage allocate(long bytes, int blockBytes) {
        return new MappedStorage("memory", Optional.empty(), Mapping.inMemory(bytes), blockBytes);
    }

    /** Maps a file, which is created or extended if necessary. */
    static MappedStorage map(Path path, long bytes, int blockBytes) throws IOException {
        var file =
                FileChannel.open(
                        path,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
        try {
            return new MappedStorage(
                    path.toString(), Optional.of(file), Mapping.inFile(file, bytes), blockBytes);
        } catch (Throwable e) {
            file.close();
            throw e;
        }
    }

    private MemorySegment memory() {
        return mapping.memory();
    }

    @Override
    synchronized void resize(long newBlocks) throws IOException {
        var bytes = bytes(newBlocks, 1 << blockShift());
        var old = mapping;
        if (!old.arena().scope().isAlive()) {
            throw new IOException("The storage %s is closed".formatted(name));
        }
        if (file.isPresent()) {
            mapping = Mapping.inFile(file.get(), bytes);
        } else {
            mapping = Mapping.inMemory(bytes);
            var kept = Math.min(bytes, old.memory().byteSize());
            MemorySegment.copy(old.memory(), 0, mapping.memory(), 0, kept);
        }
        resized(newBlocks);
        old.arena().close();
    }

    @Override
    void read(long offset, int bytes, HostDataBuffer target) throws CommandException {
        try {
            if (target.hasSmallPieces()) {
                var staging = target.staging(bytes);
                MemorySegment.copy(memory(), offset, staging, 0, bytes);
                target.write(staging, 0);
            } else {
                target.write(memory(), offset);
            }
        } catch (InternalError | IllegalStateException e) {
            throw failure(Status.UNRECOVERED_READ_ERROR, e);
        }
    }

    @Override
    void write(long offset, int bytes, HostDataBuffer source) throws CommandException {
        try {
            if (source.hasSmallPieces()) {
                var staging = source.staging(bytes);
                source.read(staging, 0);
                MemorySegment.copy(staging, 0, memory(), offset, bytes);
            } else {
                source.read(memory(), offset);
            }
        } catch (InternalError | IllegalStateException e) {
            throw failure(Status.WRITE_FAULT, e);
        }
    }

    @Override
    void zero(long offset, long bytes) throws CommandException {
        try {
            var _ = memory().asSlice(offset, bytes).fill((byte) 0);
        } catch (InternalError | IllegalStateException e) {
            throw failure(Status.WRITE_FAULT, e);
        }
    }

    @Override
    long force(long offset, long bytes) throws CommandException {
        try {
            if (file.isEmpty()) {
                return 0;
            }
            memory().asSlice(offset, bytes).force();
            return FORCE_COST;
        } catch (UncheckedIOException | InternalError | IllegalStateException e) {
            throw failure(Status.WRITE_FAULT, e);
        }
    }

    /** Logs the first failure. Called by the controllers, which may run on several threads. */
    private synchronized CommandException failure(Status status, Throwable cause) {
        if (!failureLogged) {
            failureLogged = true;
            LOG.warn(
                    "The storage {} failed. Further failures are not logged. Is a file truncated, or its file system full?",
                    name,
                    cause);
        }
        return new CommandException(status);
    }

    @Override
    public synchronized void close() {
        var arena = mapping.arena();
        if (!arena.scope().isAlive()) {
            return;
        }
        arena.close();
        if (file.isPresent()) {
            try {
                file.get().close();
            } catch (IOException e) {
                LOG.warn("Cannot close the file {}", name, e);
            }
        }
    }
}
