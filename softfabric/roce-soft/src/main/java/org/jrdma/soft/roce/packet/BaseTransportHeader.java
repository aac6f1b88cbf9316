package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The header that every packet starts with (BTH). The migration bit is always set, as by adapters
 * without path migration. The congestion bits are ignored.
 *
 * <p>Unlike the other header classes, this class has no instances. The JIT compiler does not
 * reliably eliminate the allocation of an instance for each packet.
 */
public final class BaseTransportHeader {

    public static final int BYTES = 12;

    /**
     * The offset of the byte with the congestion bits, which is replaced by ones when the checksum
     * is computed.
     */
    static final int CONGESTION_OFFSET = 4;

    private static final int SOLICITED = 0x80;
    private static final int MIGRATED = 0x40;
    private static final int ACKNOWLEDGE = 0x8000_0000;
    private static final int LOW_24_BITS = 0xff_ffff;

    private BaseTransportHeader() {}

    // The following methods decode the fields of a header that begins at an offset.

    static OpCode opCode(MemorySegment memory, long offset) throws MalformedPacketException {
        if ((flags(memory, offset) & 0x0f) != 0) {
            throw new MalformedPacketException("unsupported version of the transport header");
        }
        return OpCode.decode(BigEndian.unsignedByte(memory, offset));
    }

    static boolean solicited(MemorySegment memory, long offset) {
        return (flags(memory, offset) & SOLICITED) != 0;
    }

    static int padding(MemorySegment memory, long offset) {
        return flags(memory, offset) >> 4 & 3;
    }

    static int partitionKey(MemorySegment memory, long offset) {
        return BigEndian.unsignedShort(memory, offset + 2);
    }

    static int destinationQueuePair(MemorySegment memory, long offset) {
        return BigEndian.integer(memory, offset + 4) & LOW_24_BITS;
    }

    static boolean acknowledge(MemorySegment memory, long offset) {
        return (BigEndian.integer(memory, offset + 8) & ACKNOWLEDGE) != 0;
    }

    static int sequence(MemorySegment memory, long offset) {
        return BigEndian.integer(memory, offset + 8) & LOW_24_BITS;
    }

    private static int flags(MemorySegment memory, long offset) {
        return BigEndian.unsignedByte(memory, offset + 1);
    }

    /** Encodes a header at an offset. */
    public static void encode(
            MemorySegment memory,
            long offset,
            OpCode opCode,
            boolean solicited,
            int padding,
            int partitionKey,
            int destinationQueuePair,
            boolean acknowledge,
            int sequence) {
        BigEndian.putByte(memory, offset, opCode.code());
        BigEndian.putByte(
                memory, offset + 1, (solicited ? SOLICITED : 0) | MIGRATED | padding << 4);
        BigEndian.putShort(memory, offset + 2, partitionKey);
        BigEndian.putInteger(memory, offset + 4, destinationQueuePair);
        BigEndian.putInteger(memory, offset + 8, (acknowledge ? ACKNOWLEDGE : 0) | sequence);
    }
}
