package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.MalformedPacketException;

/**
 * The header that librdmacm writes before the private data of a connect or SIDR request: the source
 * port and the IP addresses of both sides.
 */
public record PrivateDataHeader(int sourcePort, RoceGid source, RoceGid destination) {

    public static final int BYTES = 36;

    private static final int VERSION = 0;
    private static final int IPV4 = 4;
    private static final int IPV6 = 6;

    /** The offset of an IPv4 address within an address field of 16 bytes. */
    private static final int IPV4_OFFSET = 12;

    private static final int SOURCE_OFFSET = 4;
    private static final int DESTINATION_OFFSET = 20;

    /** Decodes the header at the start of the private data of a request. */
    static PrivateDataHeader decode(MemorySegment data) throws MalformedPacketException {
        var family = BigEndian.unsignedByte(data, 1) >> 4;
        if (BigEndian.unsignedByte(data, 0) != VERSION || (family != IPV4 && family != IPV6)) {
            throw new MalformedPacketException("unknown version of the private data header");
        }
        return new PrivateDataHeader(
                BigEndian.unsignedShort(data, 2),
                address(data, SOURCE_OFFSET, family),
                address(data, DESTINATION_OFFSET, family));
    }

    private static RoceGid address(MemorySegment data, int offset, int family) {
        return family == IPV4
                ? RoceGid.ipv4(BigEndian.integer(data, offset + IPV4_OFFSET))
                : MessageFields.address(data, offset);
    }

    /** Returns the encoded header, followed by a copy of {@code data}. */
    public MemorySegment followedBy(MemorySegment data) {
        var memory = MemorySegment.ofArray(new byte[BYTES + (int) data.byteSize()]);
        BigEndian.putByte(memory, 0, VERSION);
        BigEndian.putByte(memory, 1, (source.isIpv4() ? IPV4 : IPV6) << 4);
        BigEndian.putShort(memory, 2, sourcePort);
        put(memory, SOURCE_OFFSET, source);
        put(memory, DESTINATION_OFFSET, destination);
        MemorySegment.copy(data, 0, memory, BYTES, data.byteSize());
        return memory;
    }

    private static void put(MemorySegment memory, int offset, RoceGid address) {
        if (address.isIpv4()) {
            BigEndian.putInteger(memory, offset + IPV4_OFFSET, (int) address.low());
        } else {
            MessageFields.putAddress(memory, offset, address);
        }
    }
}
