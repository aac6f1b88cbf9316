package org.jrdma.volume.metadata;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.CoordinatorLease;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/**
 * The first block of a volume, which describes its parts: this block, the lease record, two areas
 * for the journal, and the data.
 *
 * @param id the random id of the volume
 * @param blocks the number of blocks of the volume, which can be less than that of the drive
 * @param areaBlocks the number of blocks of each area of the journal
 */
public record Superblock(UUID id, long blocks, int areaBlocks) {

    /** The smallest number of blocks of a volume. */
    public static final long MIN_BLOCKS = 1024;

    private static final long MAGIC = 0x656D_756C_6F76_726AL; // "jrvolume"
    private static final int VERSION = 1;
    private static final int CHECKSUM_OFFSET = 64;
    private static final int MIN_AREA_BLOCKS = 128;
    private static final int MAX_AREA_BLOCKS = 8192;

    /** The journal has at most two of this number of parts of a volume. */
    private static final int PARTS_PER_AREA = 64;

    /**
     * Returns the superblock of a new volume.
     *
     * @throws VolumeException if the drive is too small
     */
    public static Superblock forDrive(Drive drive) throws VolumeException {
        if (drive.blocks() < MIN_BLOCKS) {
            throw new VolumeException(
                    Failure.INVALID,
                    "%s has %d blocks. A volume needs at least %d."
                            .formatted(drive, drive.blocks(), MIN_BLOCKS));
        }
        var area = Math.clamp(drive.blocks() / PARTS_PER_AREA, MIN_AREA_BLOCKS, MAX_AREA_BLOCKS);
        return new Superblock(UUID.randomUUID(), drive.blocks(), area);
    }

    /** Returns the first block of the lease record. */
    public long leaseBlock() {
        return 1;
    }

    /** Returns the first block of an area of the journal. */
    public long areaBlock(int area) {
        return leaseBlock() + CoordinatorLease.BLOCKS + (long) area * areaBlocks;
    }

    /** Returns the blocks for the data of files. */
    public Range data() {
        return new Range(areaBlock(2), blocks - areaBlock(2));
    }

    /**
     * Writes this superblock.
     *
     * @throws FabricException if the drive fails
     */
    public void write(Drive drive) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var block = arena.allocate(Drive.BLOCK_BYTES);
            var buffer = block.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            buffer.putLong(MAGIC).putInt(VERSION).putInt(areaBlocks).putLong(blocks);
            buffer.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
            buffer.putInt(CHECKSUM_OFFSET, checksum(block));
            drive.write(0, block);
            drive.flush();
        }
    }

    /**
     * Reads the superblock of a drive.
     *
     * @throws VolumeException if the drive has no valid superblock
     * @throws FabricException if the drive fails
     */
    public static Superblock read(Drive drive) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var block = arena.allocate(Drive.BLOCK_BYTES);
            drive.read(0, block);
            var buffer = block.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            if (buffer.getLong() != MAGIC || buffer.getInt(CHECKSUM_OFFSET) != checksum(block)) {
                throw new VolumeException(
                        Failure.MALFORMED,
                        "%s contains no volume, or its superblock is damaged".formatted(drive));
            }
            var version = buffer.getInt();
            var areaBlocks = buffer.getInt();
            var blocks = buffer.getLong();
            var id = new UUID(buffer.getLong(), buffer.getLong());
            if (version != VERSION
                    || areaBlocks < MIN_AREA_BLOCKS
                    || areaBlocks > MAX_AREA_BLOCKS
                    || blocks < MIN_BLOCKS
                    || blocks > drive.blocks()) {
                throw new VolumeException(
                        Failure.MALFORMED,
                        "Cannot use the volume on %s: version %d, %d blocks, areas of %d blocks. The drive has %d blocks."
                                .formatted(drive, version, blocks, areaBlocks, drive.blocks()));
            }
            return new Superblock(id, blocks, areaBlocks);
        }
    }

    private static int checksum(MemorySegment block) {
        var crc = new CRC32C();
        crc.update(ByteBuffer.wrap(block.asSlice(0, CHECKSUM_OFFSET).toArray(JAVA_BYTE)));
        return (int) crc.getValue();
    }
}
