package org.jrdma.volume.net;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * The bulk data of a call: a range of a buffer, and the direction in which its bytes move.
 *
 * @param buffer a buffer of the connection that makes the call
 * @param offset the offset of the range in the buffer
 * @param bytes the length of the range, at least 1
 * @param direction the direction, seen from the caller
 */
public record BulkData(NodeBuffer buffer, int offset, int bytes, Direction direction) {

    /** The direction of bulk data. */
    public enum Direction {
        /** From the buffer of the caller to the handler of the peer, which can read the bytes. */
        TO_PEER,
        /** From the handler of the peer, which fills its memory, to the buffer of the caller. */
        FROM_PEER
    }

    /** Checks the range. */
    public BulkData {
        if (bytes < 1) {
            throw new IllegalArgumentException("Bulk data has at least one byte: " + bytes);
        }
        Objects.checkFromIndexSize(offset, bytes, buffer.byteSize());
    }

    MemorySegment memory() {
        return buffer.memory().asSlice(offset, bytes);
    }
}
