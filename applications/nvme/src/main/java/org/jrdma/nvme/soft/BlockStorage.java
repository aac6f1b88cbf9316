package org.jrdma.nvme.soft;

import java.io.IOException;
import java.nio.file.Path;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeNamespace;

/**
 * The blocks of a namespace: in memory, in a mapped file, or on another drive. If a file is
 * truncated, or its file system is full, the commands that access the missing blocks fail with an
 * error of the medium.
 *
 * <p>Must be closed by the program, after the {@link org.jrdma.soft.sisci.device.DeviceHost}s and
 * the {@link NvmeTarget}s of all controllers. Commands that access a closed storage fail with an
 * error of the medium.
 */
public abstract class BlockStorage implements AutoCloseable {

    /** The cost of making blocks durable, so high that a poll does it once. */
    static final long FORCE_COST = NvmeController.BYTES_PER_POLL;

    private static final int SMALLEST_BLOCK = 512;
    private static final int LARGEST_BLOCK = 4096;

    private volatile long blocks; // changes only while no command is executed
    private final int blockShift;

    BlockStorage(long blocks, int blockShift) {
        this.blocks = blocks;
        this.blockShift = blockShift;
    }

    /**
     * Allocates blocks in memory, which are initially zero.
     *
     * @param blocks the number of blocks
     * @param blockBytes the size of a block, a power of two from 512 to 4,096
     * @throws IllegalArgumentException if a size is invalid
     */
    public static BlockStorage inMemory(long blocks, int blockBytes) {
        return MappedStorage.allocate(bytes(blocks, blockBytes), blockBytes);
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
        return MappedStorage.map(file, bytes(blocks, blockBytes), blockBytes);
    }

    /** Returns the size of a storage in bytes. */
    static long bytes(long blocks, int blockBytes) {
        if (Integer.bitCount(blockBytes) != 1
                || blockBytes < SMALLEST_BLOCK
                || blockBytes > LARGEST_BLOCK
                || blocks < 1
                || blocks > Long.MAX_VALUE / LARGEST_BLOCK) {
            throw new IllegalArgumentException(
                    "A storage cannot have %d blocks of %d bytes. The size of a block is a power of two from %d to %d."
                            .formatted(blocks, blockBytes, SMALLEST_BLOCK, LARGEST_BLOCK));
        }
        return blocks * blockBytes;
    }

    /**
     * Uses the blocks of a namespace of another drive, which can be local, borrowed or on a
     * network. The caller remains the owner of the drive, and closes it after the storage.
     *
     * @throws FabricException if the drive has no queue or no memory left
     */
    public static BlockStorage onDrive(NvmeDrive drive, NvmeNamespace namespace)
            throws FabricException {
        return NvmeDriveBackedStorage.open(drive, namespace);
    }

    /** Returns the number of blocks. */
    public final long blocks() {
        return blocks;
    }

    /** Returns the base two logarithm of the size of a block. */
    public final int blockShift() {
        return blockShift;
    }

    /**
     * Changes the number of blocks. No command accesses them meanwhile.
     *
     * @throws IllegalArgumentException if the number is invalid
     * @throws UnsupportedOperationException if the storage has a fixed size
     * @throws IOException if a file cannot be mapped. The storage keeps its size
     */
    void resize(long newBlocks) throws IOException {
        throw new UnsupportedOperationException(
                "The size of this storage is fixed. Only storages in memory or in a file can be resized.");
    }

    /** Sets the number of blocks after a change. */
    final void resized(long newBlocks) {
        blocks = newBlocks;
    }

    /** Copies blocks to the selected memory of a host. */
    abstract void read(long offset, int bytes, HostDataBuffer target) throws CommandException;

    /** Copies blocks from the selected memory of a host. */
    abstract void write(long offset, int bytes, HostDataBuffer source) throws CommandException;

    /** Sets blocks to zero. */
    abstract void zero(long offset, long bytes) throws CommandException;

    /**
     * Makes blocks durable if they are not only in memory.
     *
     * @return the cost in bytes
     */
    abstract long force(long offset, long bytes) throws CommandException;

    /**
     * Makes all blocks durable if they are not only in memory.
     *
     * @return the cost in bytes
     */
    final long force() throws CommandException {
        return force(0, blocks << blockShift);
    }

    /** Frees the memory, unmaps the file, or closes the queue of the drive. */
    @Override
    public abstract void close();
}
