package org.jrdma.volume.protocol;

import java.util.List;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** Encodes and decodes lists of block ranges, such as the blocks that are reserved for a lease. */
public final class BlockRangeEncoding {

    private static final int MAX_RANGES = 3600;

    private BlockRangeEncoding() {}

    /** Writes ranges. */
    public static void encode(Encoder encoder, List<Range> ranges) {
        encoder.writeList(
                ranges,
                (target, range) -> {
                    target.writeLong(range.block());
                    target.writeLong(range.blocks());
                });
    }

    /** Reads ranges. */
    public static List<Range> decode(Decoder decoder) throws VolumeException {
        return decoder.readList(MAX_RANGES, BlockRangeEncoding::decodeRange);
    }

    private static Range decodeRange(Decoder decoder) throws VolumeException {
        var range =
                new Range(decoder.readCount("a block"), decoder.readCount("a number of blocks"));
        if (range.blocks() == 0 || range.end() < 0) {
            throw new VolumeException(Failure.MALFORMED, "Malformed data: " + range);
        }
        return range;
    }
}
