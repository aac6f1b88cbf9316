package org.jrdma.volume.protocol;

import java.util.List;
import org.jrdma.volume.metadata.Attributes;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.metadata.FileExtent;
import org.jrdma.volume.model.VolumeException;

/**
 * A lease that the coordinator has granted.
 *
 * @param number increases with each grant, so that a recall of an earlier grant is recognized
 * @param attributes the attributes of the file
 * @param extents the first extents of the file
 * @param hasMore true if the file has further extents
 */
public record LeaseGrant(
        LeaseMode mode,
        long number,
        Attributes attributes,
        List<FileExtent> extents,
        boolean hasMore) {

    /** The largest number of extents in one message. */
    public static final int MAX_EXTENTS = 2000;

    /** Writes this grant. */
    public void encode(Encoder encoder) {
        encoder.writeEnum(mode);
        encoder.writeLong(number);
        attributes.encode(encoder);
        encoder.writeList(extents, (target, extent) -> extent.encode(target));
        encoder.writeBoolean(hasMore);
    }

    /** Reads a grant. */
    public static LeaseGrant decode(Decoder decoder) throws VolumeException {
        return new LeaseGrant(
                LeaseMode.decode(decoder),
                decoder.readLong(),
                Attributes.decode(decoder),
                decoder.readList(MAX_EXTENTS, FileExtent::decode),
                decoder.readBoolean());
    }
}
