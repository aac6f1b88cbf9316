package org.jrdma.verbs.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The header that precedes the message in the receive buffer of a datagram, if the completion says
 * so. It names sender and destination.
 *
 * <p>The first 40 bytes of every datagram receive are reserved for the header. Their content is
 * undefined if the datagram has none. On RoCE v2 over IPv4, the last 20 of them hold the packet's
 * IPv4 header. In C: {@code struct ibv_grh}.
 *
 * @param source the sender's address
 * @param destination the address that the datagram was sent to, which may be a multicast address
 * @param trafficClass the priority, as in IP's type of service
 * @param flowLabel the sender's hint to routers; 0 over IPv4
 * @param hopLimit the number of further routers that the packet could have passed
 */
public record GlobalRouteHeader(
        Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) {

    /** The size of the header, which is the offset of the message in the receive buffer. */
    public static final int BYTES = 40;

    private static final ValueLayout.OfInt INT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int IPV4 = 20;
    private static final byte IPV4_WITHOUT_OPTIONS = 0x45;

    /**
     * Reads the header at the start of a receive buffer.
     *
     * @throws IllegalArgumentException if there is no header
     * @throws IndexOutOfBoundsException if the buffer is shorter than 40 bytes
     */
    public static GlobalRouteHeader of(MemorySegment received) {
        var header = received.asSlice(0, BYTES);
        var first = header.get(INT, 0);
        var isVersion6 = first >>> 28 == 6;
        var isVersion4 = header.get(ValueLayout.JAVA_BYTE, IPV4) == IPV4_WITHOUT_OPTIONS;
        if (isVersion4 && isVersion6) {
            isVersion6 = sumOfIpv4(header) != 0xffff; // bytes before an IPv4 header are undefined
        }
        if (isVersion6) {
            return new GlobalRouteHeader(
                    new Gid(header.get(LONG, 8), header.get(LONG, 16)),
                    new Gid(header.get(LONG, 24), header.get(LONG, 32)),
                    first >>> 20 & 0xff,
                    first & 0xfffff,
                    Byte.toUnsignedInt(header.get(ValueLayout.JAVA_BYTE, 7)));
        }
        if (!isVersion4) {
            throw new IllegalArgumentException("No global route header precedes this message");
        }
        return new GlobalRouteHeader(
                ipv4(header, IPV4 + 12),
                ipv4(header, IPV4 + 16),
                Byte.toUnsignedInt(header.get(ValueLayout.JAVA_BYTE, IPV4 + 1)),
                0,
                Byte.toUnsignedInt(header.get(ValueLayout.JAVA_BYTE, IPV4 + 8)));
    }

    private static Gid ipv4(MemorySegment header, int offset) {
        return new Gid(0, 0xffff_0000_0000L | Integer.toUnsignedLong(header.get(INT, offset)));
    }

    /**
     * The ones' complement sum of the IPv4 header including its checksum; 0xffff if the checksum is
     * right.
     */
    private static int sumOfIpv4(MemorySegment header) {
        var sum = 0;
        for (var offset = IPV4; offset < BYTES; offset += Short.BYTES) {
            sum += Short.toUnsignedInt(header.get(SHORT, offset));
        }
        sum = (sum & 0xffff) + (sum >>> 16);
        return (sum & 0xffff) + (sum >>> 16);
    }
}
