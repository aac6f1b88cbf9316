package org.jrdma.volume.metadata;

import java.time.Instant;
import org.jrdma.volume.model.VolumeException;

/**
 * The attributes of a file or folder.
 *
 * @param id the number of the file, which is not used again
 * @param type the type
 * @param mode the permission bits, which the volume stores and does not check
 * @param size the number of bytes; 0 for a folder
 * @param revision increases with each committed change of the content
 * @param created the time of creation in nanoseconds since 1970
 * @param modified the time of the last change of the content in nanoseconds since 1970
 */
public record Attributes(
        long id, FileType type, int mode, long size, long revision, long created, long modified) {

    /** The number of bytes that {@link #encode} writes. */
    static final int BYTES = 5 * Long.BYTES + Integer.BYTES + 1;

    /** The largest size of a file. */
    public static final long MAX_SIZE = 1L << 60;

    /** Returns the current time in nanoseconds since 1970. */
    public static long now() {
        var now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    /** Returns true for a folder. */
    public boolean isFolder() {
        return type == FileType.FOLDER;
    }

    Attributes withContent(long newSize, long time) {
        return new Attributes(id, type, mode, newSize, revision + 1, created, time);
    }

    Attributes withMode(int newMode, long time) {
        return new Attributes(id, type, newMode, size, revision, created, time);
    }

    /** Writes the attributes. */
    public void encode(Encoder encoder) {
        encoder.writeLong(id);
        encoder.writeEnum(type);
        encoder.writeInt(mode);
        encoder.writeLong(size);
        encoder.writeLong(revision);
        encoder.writeLong(created);
        encoder.writeLong(modified);
    }

    /** Reads attributes. */
    public static Attributes decode(Decoder decoder) throws VolumeException {
        return new Attributes(
                decoder.readCount("a file number"),
                decoder.readEnum(FileType.values()),
                decoder.readInt(),
                decoder.readCount("a size"),
                decoder.readCount("a revision"),
                decoder.readLong(),
                decoder.readLong());
    }
}
