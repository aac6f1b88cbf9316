package org.jrdma.nvme.soft;

import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.nvme.model.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Blocks in memory or in a mapped file. */
final class MappedStorage extends BlockStorage {

    private static final Logger LOG = LoggerFactory.getLogger(MappedStorage.class);

    private final String name;
    private final Arena arena;
    private final MemorySegment memory;
    private boolean failureLogged;

    MappedStorage(String name, Arena arena, MemorySegment memory, int blockBytes) {
        super(memory.byteSize() / blockBytes, Integer.numberOfTrailingZeros(blockBytes));
        this.name = name;
        this.arena = arena;
        this.memory = memory;
    }

    @Override
    void read(long offset, int bytes, HostDataBuffer target) throws CommandException {
        try {
            if (target.hasSmallPieces()) {
                var staging = target.staging(bytes);
                MemorySegment.copy(memory, offset, staging, 0, bytes);
                target.write(staging, 0);
            } else {
                target.write(memory, offset);
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
                MemorySegment.copy(staging, 0, memory, offset, bytes);
            } else {
                source.read(memory, offset);
            }
        } catch (InternalError | IllegalStateException e) {
            throw failure(Status.WRITE_FAULT, e);
        }
    }

    @Override
    void zero(long offset, long bytes) throws CommandException {
        try {
            var _ = memory.asSlice(offset, bytes).fill((byte) 0);
        } catch (InternalError | IllegalStateException e) {
            throw failure(Status.WRITE_FAULT, e);
        }
    }

    @Override
    long force(long offset, long bytes) throws CommandException {
        try {
            if (!memory.isMapped()) {
                return 0;
            }
            memory.asSlice(offset, bytes).force();
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
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
