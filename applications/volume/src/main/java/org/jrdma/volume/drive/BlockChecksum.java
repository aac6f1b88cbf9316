package org.jrdma.volume.drive;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** The checksum of a record at the beginning of a block. */
final class BlockChecksum {

    private BlockChecksum() {}

    /** Returns the CRC-32C of the first bytes of a block. */
    static int of(MemorySegment block, int bytes) {
        var crc = new CRC32C();
        crc.update(ByteBuffer.wrap(block.asSlice(0, bytes).toArray(JAVA_BYTE)));
        return (int) crc.getValue();
    }
}
