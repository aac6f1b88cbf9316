package org.jrdma.volume.drive;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.VolumeException;

/**
 * Block storage. Blocks have {@value #BLOCK_BYTES} bytes, whatever the medium has.
 *
 * <p>Calls block. Each drive states how long a call takes if its medium does not respond. A write
 * that failed has no effect after the call has returned, or is the last effect of this drive. Safe
 * for use by multiple threads.
 */
public interface Drive extends AutoCloseable {

    /** The size of a block. */
    int BLOCK_BYTES = 4096;

    /** Returns the number of blocks. */
    long blocks();

    /**
     * Reads consecutive blocks.
     *
     * @param target memory of a multiple of {@value #BLOCK_BYTES} bytes
     * @throws FabricException if the medium fails or does not respond in time
     * @throws IndexOutOfBoundsException if the blocks are outside the drive
     * @throws IllegalStateException if the drive is closed
     */
    void read(long block, MemorySegment target) throws FabricException;

    /**
     * Writes consecutive blocks. They are durable after the next {@link #flush()}. If the call
     * fails or the process ends, any subset of the bytes may have been written.
     *
     * @param source memory of a multiple of {@value #BLOCK_BYTES} bytes
     * @throws FabricException if the medium fails or does not respond in time
     * @throws IndexOutOfBoundsException if the blocks are outside the drive
     * @throws IllegalStateException if the drive is closed
     */
    void write(long block, MemorySegment source) throws FabricException;

    /**
     * Makes the writes durable that were completed before this call, by any node.
     *
     * @throws FabricException if the medium fails or does not respond in time
     * @throws IllegalStateException if the drive is closed
     */
    void flush() throws FabricException;

    /**
     * Allocates memory for data. If this drive can access the memory itself, as an NVMe namespace
     * can, reads and writes with any part of it that starts at a multiple of 4 bytes copy nothing.
     * Other drives accept it like any other memory.
     *
     * <p>All threads can access the memory until this drive is closed. The drive then frees memory
     * that belongs to it, and an access to that throws IllegalStateException.
     *
     * @param bytes the size, at least 1
     * @throws FabricException if the memory cannot be allocated
     */
    default MemorySegment newMemory(int bytes) throws FabricException {
        return Arena.ofAuto().allocate(bytes, BLOCK_BYTES);
    }

    /** Returns a text that no drive with other content has; empty if this drive has none. */
    default String serialNumber() {
        return "";
    }

    /** Returns the means to exclude other nodes from this drive. */
    Fence fence();

    /** Closes the drive. Waits for calls of other threads. */
    @Override
    void close();

    /**
     * Checks the range of a transfer.
     *
     * @throws IndexOutOfBoundsException if the blocks are outside the drive, or the size of the
     *     memory is not a positive multiple of {@value #BLOCK_BYTES}
     */
    static void checkRange(Drive drive, long block, MemorySegment memory) {
        var count = memory.byteSize() / BLOCK_BYTES;
        if (memory.byteSize() % BLOCK_BYTES != 0
                || count == 0
                || block < 0
                || block > drive.blocks() - count) {
            throw new IndexOutOfBoundsException(
                    "%d bytes at block %d are not whole blocks of %s, which has %d blocks of %d bytes"
                            .formatted(
                                    memory.byteSize(), block, drive, drive.blocks(), BLOCK_BYTES));
        }
    }

    /** Returns the exception for a drive of unusable size. */
    static VolumeException tooSmall(String name, long bytes) {
        return new VolumeException(
                "%s has %d bytes. A drive needs at least one block of %d bytes."
                        .formatted(name, bytes, BLOCK_BYTES));
    }
}
