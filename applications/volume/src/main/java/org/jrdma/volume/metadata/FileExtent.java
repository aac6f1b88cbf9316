package org.jrdma.volume.metadata;

import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/**
 * Consecutive blocks of a file that are consecutive on the drive.
 *
 * @param fileBlock the first block in the file
 * @param driveBlock the first block on the drive
 * @param blocks the number of blocks, at least 1
 */
public record FileExtent(long fileBlock, long driveBlock, long blocks) {

    /** The number of bytes that {@link #encode} writes. */
    static final int BYTES = 3 * Long.BYTES;

    /** The highest number of blocks of a file or drive. */
    private static final long MAX_BLOCKS = 1L << 50;

    /** Returns the first file block after this extent. */
    public long endFileBlock() {
        return fileBlock + blocks;
    }

    /** Returns the first drive block after this extent. */
    public long endDriveBlock() {
        return driveBlock + blocks;
    }

    /** Returns the drive block of a file block in this extent. */
    public long driveBlockOf(long block) {
        return driveBlock + (block - fileBlock);
    }

    /** Writes this extent. */
    public void encode(Encoder encoder) {
        encoder.writeLong(fileBlock);
        encoder.writeLong(driveBlock);
        encoder.writeLong(blocks);
    }

    /** Reads an extent, and checks that its numbers are in range. */
    public static FileExtent decode(Decoder decoder) throws VolumeException {
        var extent =
                new FileExtent(
                        decoder.readCount("a file block"),
                        decoder.readCount("a drive block"),
                        decoder.readCount("a number of blocks"));
        if (extent.blocks == 0
                || extent.blocks > MAX_BLOCKS
                || extent.fileBlock > MAX_BLOCKS
                || extent.driveBlock > MAX_BLOCKS) {
            throw new VolumeException(Failure.MALFORMED, "Malformed data: " + extent);
        }
        return extent;
    }
}
