package org.jrdma.volume.metadata;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jrdma.volume.drive.Drive;
import org.jspecify.annotations.Nullable;

/**
 * The header of a block in an area of the journal, in front of its payload.
 *
 * @param kind the part of the area to which the block belongs
 * @param epoch the epoch of the coordinator that has written the block
 * @param generation increases each time that the journal moves to the other area
 * @param index the position of the block in its area
 * @param group the number of the group of records that were written together; 0 for other kinds
 * @param isLast true for the last block of a group
 * @param used the number of bytes of the payload
 */
record JournalBlockHeader(
        Kind kind, long epoch, long generation, int index, int group, boolean isLast, int used) {

    /** The offset of the payload. */
    static final int HEADER_BYTES = 64;

    /** The largest number of bytes of the payload. */
    static final int PAYLOAD_BYTES = Drive.BLOCK_BYTES - HEADER_BYTES;

    private static final int MAGIC = 0x6C6E_726A; // "jrnl"
    private static final int CHECKSUM_END = 8;

    /** The parts of an area. */
    enum Kind {
        HEADER(1),
        SNAPSHOT(2),
        RECORDS(3);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        private static @Nullable Kind of(int code) {
            for (var kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            return null;
        }
    }

    /**
     * Writes a block.
     *
     * @param block the memory of the block, which is zeroed
     * @param payload contains the payload at its position, which is advanced
     */
    void encode(ByteBuffer block, UUID volume, ByteBuffer payload) {
        block.order(ByteOrder.LITTLE_ENDIAN);
        block.putInt(0, MAGIC);
        block.putLong(8, epoch);
        block.putLong(16, generation);
        block.putInt(24, index);
        block.putInt(28, group);
        block.putInt(32, used);
        block.putInt(36, kind.code | (isLast ? 0x100 : 0));
        block.putLong(40, volume.getMostSignificantBits());
        block.putLong(48, volume.getLeastSignificantBits());
        block.put(HEADER_BYTES, payload, payload.position(), used);
        payload.position(payload.position() + used);
        block.putInt(4, checksum(block));
    }

    /** Reads the header of a block; null if the block is invalid or belongs to another volume. */
    static @Nullable JournalBlockHeader decode(ByteBuffer block, UUID volume) {
        block.order(ByteOrder.LITTLE_ENDIAN);
        var flags = block.getInt(36);
        var kind = Kind.of(flags & 0xFF);
        var used = block.getInt(32);
        if (block.getInt(0) != MAGIC
                || block.getInt(4) != checksum(block)
                || block.getLong(40) != volume.getMostSignificantBits()
                || block.getLong(48) != volume.getLeastSignificantBits()
                || kind == null
                || used < 0
                || used > PAYLOAD_BYTES) {
            return null;
        }
        return new JournalBlockHeader(
                kind,
                block.getLong(8),
                block.getLong(16),
                block.getInt(24),
                block.getInt(28),
                (flags & 0x100) != 0,
                used);
    }

    private static int checksum(ByteBuffer block) {
        var crc = new CRC32C();
        crc.update(block.slice(CHECKSUM_END, Drive.BLOCK_BYTES - CHECKSUM_END));
        return (int) crc.getValue();
    }

    /** Returns the number of blocks for a payload. */
    static int blocksFor(long bytes) {
        return Math.toIntExact(Math.ceilDiv(bytes, PAYLOAD_BYTES));
    }
}
