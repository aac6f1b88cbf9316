package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The 40 bytes (GRH) that precede the payload of a datagram in its receive buffer. They contain the
 * IPv6 header of the packet, or 20 zeros and its IPv4 header. A UDP socket reports only the
 * addresses and the length of a packet, so the other fields of the header are constants or
 * computed.
 */
public final class RouteHeader {

    public static final int BYTES = 40;

    private static final int IPV4_OFFSET = 20;
    private static final int UDP_BYTES = 8;
    private static final int UDP = 17;
    private static final int HOPS = 64;

    private RouteHeader() {}

    /** Writes the IP header of a received packet to 40 bytes of memory. */
    public static void write(PacketBuffer packet, MemorySegment target) {
        target.fill((byte) 0);
        if (packet.isIpv4()) {
            writeIpv4(packet, target);
        } else {
            BigEndian.putByte(target, 0, 0x60);
            BigEndian.putShort(target, 4, UDP_BYTES + packet.length());
            BigEndian.putByte(target, 6, UDP);
            BigEndian.putByte(target, 7, HOPS);
            BigEndian.putLongInteger(target, 8, packet.sourceHigh());
            BigEndian.putLongInteger(target, 16, packet.sourceLow());
            BigEndian.putLongInteger(target, 24, packet.destinationHigh());
            BigEndian.putLongInteger(target, 32, packet.destinationLow());
        }
    }

    private static void writeIpv4(PacketBuffer packet, MemorySegment target) {
        BigEndian.putShort(target, IPV4_OFFSET, 0x4500);
        BigEndian.putShort(target, IPV4_OFFSET + 2, 20 + UDP_BYTES + packet.length());
        BigEndian.putShort(target, IPV4_OFFSET + 6, 0x4000);
        BigEndian.putByte(target, IPV4_OFFSET + 8, HOPS);
        BigEndian.putByte(target, IPV4_OFFSET + 9, UDP);
        BigEndian.putInteger(target, IPV4_OFFSET + 12, (int) packet.sourceLow());
        BigEndian.putInteger(target, IPV4_OFFSET + 16, (int) packet.destinationLow());
        // libibverbs verifies this checksum to recognize an IPv4 header.
        var sum = 0;
        for (var i = 0; i < 20; i += 2) {
            sum += BigEndian.unsignedShort(target, IPV4_OFFSET + i);
        }
        sum = (sum & 0xffff) + (sum >>> 16);
        sum = (sum & 0xffff) + (sum >>> 16);
        BigEndian.putShort(target, IPV4_OFFSET + 10, ~sum);
    }

    /** Returns the first half of the source GID. */
    public static long sourceHigh(MemorySegment header) {
        return isIpv4(header) ? 0 : BigEndian.longInteger(header, 8);
    }

    /** Returns the second half of the source GID. */
    public static long sourceLow(MemorySegment header) {
        return isIpv4(header)
                ? 0xffffL << 32
                        | Integer.toUnsignedLong(BigEndian.integer(header, IPV4_OFFSET + 12))
                : BigEndian.longInteger(header, 16);
    }

    /** Returns the first half of the destination GID. */
    public static long destinationHigh(MemorySegment header) {
        return isIpv4(header) ? 0 : BigEndian.longInteger(header, 24);
    }

    /** Returns the second half of the destination GID. */
    public static long destinationLow(MemorySegment header) {
        return isIpv4(header)
                ? 0xffffL << 32
                        | Integer.toUnsignedLong(BigEndian.integer(header, IPV4_OFFSET + 16))
                : BigEndian.longInteger(header, 32);
    }

    private static boolean isIpv4(MemorySegment header) {
        return BigEndian.unsignedByte(header, 0) == 0;
    }
}
