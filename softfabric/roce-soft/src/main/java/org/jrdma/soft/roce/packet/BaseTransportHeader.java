package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The header of every packet, BTH. The migration bit is always set, as every adapter without path
 * migration does; the congestion bits are ignored.
 */
public record BaseTransportHeader(
        OpCode opCode,
        boolean solicited,
        int padding,
        int partitionKey,
        int destinationQueuePair,
        boolean acknowledge,
        int sequence) {

    public static final int BYTES = 12;

    /** Where the byte stands that the checksum takes for ones. */
    static final int CONGESTION_OFFSET = 4;

    private static final int SOLICITED = 0x80;
    private static final int MIGRATED = 0x40;
    private static final int ACKNOWLEDGE = 0x8000_0000;
    private static final int LOW_24_BITS = 0xff_ffff;

    /** Reads 12 bytes, which must be there. */
    public static BaseTransportHeader decode(MemorySegment memory, long offset)
            throws MalformedPacketException {
        var opCode = OpCode.decode(BigEndian.unsignedByte(memory, offset));
        var flags = BigEndian.unsignedByte(memory, offset + 1);
        if ((flags & 0x0f) != 0) {
            throw new MalformedPacketException("transport header of another version");
        }
        var last = BigEndian.integer(memory, offset + 8);
        return new BaseTransportHeader(
                opCode,
                (flags & SOLICITED) != 0,
                flags >> 4 & 3,
                BigEndian.unsignedShort(memory, offset + 2),
                BigEndian.integer(memory, offset + 4) & LOW_24_BITS,
                (last & ACKNOWLEDGE) != 0,
                last & LOW_24_BITS);
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putByte(memory, offset, opCode.code());
        BigEndian.putByte(
                memory, offset + 1, (solicited ? SOLICITED : 0) | MIGRATED | padding << 4);
        BigEndian.putShort(memory, offset + 2, partitionKey);
        BigEndian.putInteger(memory, offset + 4, destinationQueuePair);
        BigEndian.putInteger(memory, offset + 8, (acknowledge ? ACKNOWLEDGE : 0) | sequence);
    }
}
