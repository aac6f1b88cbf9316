package org.jrdma.verbs.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The header with the addresses of the sender and the destination that precedes a datagram in its
 * receive buffer. {@link DatagramSource#hasGlobalRoute} reports whether a received datagram has
 * this header.
 *
 * <p>The first 40 bytes of the receive buffer of every datagram are reserved for the header. The
 * content of these bytes is undefined if the datagram has no header. On RoCE v2 over IPv4, the last
 * 20 of these bytes contain the IPv4 header of the packet. In C: {@code struct ibv_grh}.
 *
 * @param source the address of the sender
 * @param destination the address that the datagram was sent to, which may be a multicast address
 * @param trafficClass the priority, which corresponds to the type of service in IP
 * @param flowLabel the 20-bit hint to routers that the sender chose; 0 over IPv4
 * @param hopLimit the remaining hop limit, which is the number of further routers that the packet
 *     could have passed
 */
public record GlobalRouteHeader(
        Gid source, Gid destination, int trafficClass, int flowLabel, int hopLimit) {

    /**
     * The length of the header in bytes, which is also the offset of the message in the receive
     * buffer.
     */
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
     * @throws IllegalArgumentException if the buffer does not start with a header
     * @throws IndexOutOfBoundsException if the buffer is shorter than 40 bytes
     */
    public static GlobalRouteHeader of(MemorySegment received) {
        var header = received.asSlice(0, BYTES);
        var first = header.get(INT, 0);
        var isVersion6 = first >>> 28 == 6;
        var isVersion4 = header.get(ValueLayout.JAVA_BYTE, IPV4) == IPV4_WITHOUT_OPTIONS;
        if (isVersion4 && isVersion6) {
            // The bytes before an IPv4 header are undefined and may look like an IPv6 header.
            isVersion6 = sumOfIpv4(header) != 0xffff;
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
     * Returns the ones' complement sum of the IPv4 header including its checksum. The sum is 0xffff
     * if the checksum is correct.
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
