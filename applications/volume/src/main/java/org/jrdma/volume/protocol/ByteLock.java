package org.jrdma.volume.protocol;

import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/**
 * A lock on a range of bytes of a file.
 *
 * @param owner the number of the owner within its session
 * @param start the first byte
 * @param end the first byte after the range
 * @param isShared true if other owners can have shared locks on the same bytes
 */
public record ByteLock(long owner, long start, long end, boolean isShared) {

    /** The largest number of locks of a session on a file, which fit in one message. */
    public static final int MAX_LOCKS = 500;

    /** Returns true if two locks have bytes in common. */
    public boolean overlaps(ByteLock other) {
        return start < other.end && other.start < end;
    }

    /** Writes this lock. */
    public void encode(Encoder encoder) {
        encoder.writeLong(owner);
        encoder.writeLong(start);
        encoder.writeLong(end);
        encoder.writeBoolean(isShared);
    }

    /** Reads a lock. */
    public static ByteLock decode(Decoder decoder) throws VolumeException {
        var lock =
                new ByteLock(
                        decoder.readLong(),
                        decoder.readCount("a position"),
                        decoder.readCount("a position"),
                        decoder.readBoolean());
        if (lock.start >= lock.end) {
            throw new VolumeException(Failure.INVALID, "Invalid range of a lock: " + lock);
        }
        return lock;
    }
}
