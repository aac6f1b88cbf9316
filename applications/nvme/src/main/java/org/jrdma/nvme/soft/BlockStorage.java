package org.jrdma.nvme.soft;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jrdma.nvme.model.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The blocks of a namespace, in memory or in a mapped file. If the file is truncated, or its file
 * system is full, the commands that access the missing blocks fail with an error of the medium.
 *
 * <p>Must be closed by the program, after the {@link org.jrdma.soft.sisci.device.DeviceHost}s of
 * all controllers. Commands that access a closed storage fail with an error of the medium.
 */
public final class BlockStorage implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BlockStorage.class);
    private static final int SMALLEST_BLOCK = 512;
    private static final int LARGEST_BLOCK = 4096;

    /** The cost of making blocks durable, so high that a poll does it once. */
    private static final long FORCE_COST = NvmeController.BYTES_PER_POLL;

    private final String name;
    private final Arena arena;
    private final MemorySegment memory;
    private final int blockShift;
    private boolean failureLogged;

    private BlockStorage(String name, Arena arena, MemorySegment memory, int blockBytes) {
        this.name = name;
        this.arena = arena;
        this.memory = memory;
        this.blockShift = Integer.numberOfTrailingZeros(blockBytes);
    }

    /**
     * Allocates blocks in memory, which are initially zero.
     *
     * @param blocks the number of blocks
     * @param blockBytes the size of a block, a power of two from 512 to 4,096
     * @throws IllegalArgumentException if a size is invalid
     */
    public static BlockStorage inMemory(long blocks, int blockBytes) {
        var bytes = bytes(blocks, blockBytes);
        var arena = Arena.ofShared();
        try {
            return new BlockStorage(
                    "memory", arena, arena.allocate(bytes, LARGEST_BLOCK), blockBytes);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw e;
        }
    }

    /**
     * Maps a file, which is created or extended if necessary. A flush makes the blocks durable.
     *
     * @param blocks the number of blocks
     * @param blockBytes the size of a block, a power of two from 512 to 4,096
     * @throws IllegalArgumentException if a size is invalid
     * @throws IOException if the file cannot be mapped
     */
    public static BlockStorage inFile(Path file, long blocks, int blockBytes) throws IOException {
        var bytes = bytes(blocks, blockBytes);
        var arena = Arena.ofShared();
        try (var channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            var memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
            return new BlockStorage(file.toString(), arena, memory, blockBytes);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    private static long bytes(long blocks, int blockBytes) {
        if (Integer.bitCount(blockBytes) != 1
                || blockBytes < SMALLEST_BLOCK
                || blockBytes > LARGEST_BLOCK
                || blocks < 1
                || blocks > Long.MAX_VALUE / LARGEST_BLOCK) {
            throw new IllegalArgumentException(
                    "Cannot create a storage of %d blocks of %d bytes. The size of a block is a power of two from %d to %d."
                            .formatted(blocks, blockBytes, SMALLEST_BLOCK, LARGEST_BLOCK));
        }
        return blocks * blockBytes;
    }

    /** Returns the number of blocks. */
    public long blocks() {
        return memory.byteSize() >>> blockShift;
    }

    /** Returns the base two logarithm of the size of a block. */
    public int blockShift() {
        return blockShift;
    }

    /** Copies blocks to the selected memory of a borrower. */
    void read(long offset, int bytes, DataBuffer target) throws CommandException {
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

    /** Copies blocks from the selected memory of a borrower. */
    void write(long offset, int bytes, DataBuffer source) throws CommandException {
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

    /** Sets blocks to zero. */
    void zero(long offset, long bytes) throws CommandException {
        try {
            var _ = memory.asSlice(offset, bytes).fill((byte) 0);
        } catch (InternalError | IllegalStateException e) {
            throw failure(Status.WRITE_FAULT, e);
        }
    }

    /**
     * Makes blocks durable if they are in a file.
     *
     * @return the cost in bytes
     */
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

    /**
     * Makes all blocks durable if they are in a file.
     *
     * @return the cost in bytes
     */
    long force() throws CommandException {
        return force(0, memory.byteSize());
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

    /** Frees the memory or unmaps the file. */
    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
