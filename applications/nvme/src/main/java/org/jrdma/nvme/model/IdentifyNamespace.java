package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;

/**
 * The description of a namespace.
 *
 * @param blocks the number of blocks (NSZE)
 * @param blockShift the base two logarithm of the size of a block
 * @param metadataBytes the number of bytes of metadata of each block
 * @param isShared true if several controllers can access the namespace at the same time (NMIC)
 * @param reservationCapabilities the supported types of reservations (RESCAP)
 * @param zeroesAfterDeallocation true if deallocated blocks read as zeroes (DLFEAT)
 */
public record IdentifyNamespace(
        long blocks,
        int blockShift,
        int metadataBytes,
        boolean isShared,
        int reservationCapabilities,
        boolean zeroesAfterDeallocation) {

    /** The size of the data structure in bytes. */
    public static final int BYTES = 4096;

    private static final int FORMATS = 128;
    private static final int FORMAT_BYTES = 4;

    /** Decodes the data structure. */
    public static IdentifyNamespace decode(MemorySegment data) {
        var format = FORMATS + (Fields.unsignedByte(data, 26) & 0xf) * FORMAT_BYTES;
        return new IdentifyNamespace(
                data.get(Fields.LONG, 0),
                Fields.unsignedByte(data, format + 2),
                Fields.unsignedShort(data, format),
                (Fields.unsignedByte(data, 30) & 1) != 0,
                Fields.unsignedByte(data, 31),
                (Fields.unsignedByte(data, 33) & 7) == 1);
    }

    /** Encodes the data structure, with one format, into zeroed memory. */
    public void encode(MemorySegment data) {
        data.set(Fields.LONG, 0, blocks);
        data.set(Fields.LONG, 8, blocks);
        data.set(Fields.LONG, 16, blocks);
        Fields.putByte(data, 30, isShared ? 1 : 0);
        Fields.putByte(data, 31, reservationCapabilities);
        Fields.putByte(data, 33, zeroesAfterDeallocation ? 1 : 0);
        Fields.putShort(data, FORMATS, metadataBytes);
        Fields.putByte(data, FORMATS + 2, blockShift);
    }
}
