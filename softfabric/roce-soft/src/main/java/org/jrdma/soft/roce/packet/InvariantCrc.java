package org.jrdma.soft.roce.packet;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32;

/**
 * The checksum at the end of each packet (ICRC): CRC-32 over the headers of IP and UDP and the
 * packet, with ones for what a router may change.
 *
 * <p>It covers the identification of an IPv4 header, which a UDP socket does not show. A Java peer
 * sends 0 there. The kernel's rxe counts, so over IPv4 the check also accepts what differs from the
 * computed value by an identification alone. That leaves 16 of the 32 bits to detect damage; over
 * IPv6 nothing is hidden and the check is exact.
 *
 * <p>For one thread at a time.
 */
public final class InvariantCrc {

    public static final int BYTES = 4;

    private static final ValueLayout.OfInt LITTLE_ENDIAN_INT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(LITTLE_ENDIAN);

    private static final int UDP_BYTES = 8;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int UDP = 17;
    private static final int DO_NOT_FRAGMENT = 0x4000;

    /** From the first byte of the identification to the end of IPv4's and UDP's headers. */
    private static final int IDENTIFICATION_TO_PACKET = IPV4_BYTES - 4 + UDP_BYTES;

    /** CRC-32's polynomial, lowest power in the highest bit, x^32 left out. */
    private static final int POLYNOMIAL = 0xedb8_8320;

    /** x^(-8 i) for each number of bytes i. */
    private static final int[] BACK = powersOfInverse();

    private final CRC32 crc = new CRC32();

    /** Appends the checksum to the packet, whose addresses, port and length so far are set. */
    public void seal(PacketBuffer packet) {
        var covered = packet.length();
        packet.memory()
                .set(LITTLE_ENDIAN_INT, PacketBuffer.START + covered, compute(packet, covered));
        packet.length(covered + BYTES);
    }

    /**
     * Whether the packet, at least a base transport header and a checksum long, has arrived whole.
     */
    public boolean matches(PacketBuffer packet) {
        var covered = packet.length() - BYTES;
        var received = packet.memory().get(LITTLE_ENDIAN_INT, PacketBuffer.START + covered);
        var difference = received ^ compute(packet, covered);
        return difference == 0 || (packet.isIpv4() && isIdentification(difference, covered));
    }

    /**
     * Whether some identification makes up for {@code difference}.
     *
     * <p>CRC is linear: a change of the message changes its remainder by the remainder of the
     * change alone, which is the 16 bits changed times a power of x that grows with the bytes
     * behind. Multiplied by the inverse of that power, the difference must be 16 bits again.
     */
    private static boolean isIdentification(int difference, int covered) {
        return multiply(difference, BACK[covered + IDENTIFICATION_TO_PACKET]) >>> 16 == 0;
    }

    private int compute(PacketBuffer packet, int covered) {
        var memory = packet.memory();
        var start = packet.isIpv4() ? ipv4(packet, covered) : ipv6(packet, covered);
        var congestion = PacketBuffer.START + BaseTransportHeader.CONGESTION_OFFSET;
        var sent = memory.get(ValueLayout.JAVA_BYTE, congestion);
        memory.set(ValueLayout.JAVA_BYTE, congestion, (byte) 0xff);
        crc.reset();
        crc.update(packet.bytes().limit(PacketBuffer.START + covered).position(start));
        memory.set(ValueLayout.JAVA_BYTE, congestion, sent);
        return (int) crc.getValue();
    }

    /** Writes what stands in front of a packet over IPv4. Returns where it begins. */
    private static int ipv4(PacketBuffer packet, int covered) {
        var memory = packet.memory();
        var ip = PacketBuffer.START - UDP_BYTES - IPV4_BYTES;
        var udpLength = UDP_BYTES + covered + BYTES;
        BigEndian.putLongInteger(memory, ip - 8, -1);
        BigEndian.putInteger(memory, ip, 0x45ff_0000 | IPV4_BYTES + udpLength);
        BigEndian.putInteger(memory, ip + 4, DO_NOT_FRAGMENT);
        BigEndian.putInteger(memory, ip + 8, 0xff00_ffff | UDP << 16);
        BigEndian.putInteger(memory, ip + 12, (int) packet.sourceLow());
        BigEndian.putInteger(memory, ip + 16, (int) packet.destinationLow());
        udp(memory, packet.sourcePort(), udpLength);
        return ip - 8;
    }

    /** Writes what stands in front of a packet over IPv6. Returns where it begins. */
    private static int ipv6(PacketBuffer packet, int covered) {
        var memory = packet.memory();
        var ip = PacketBuffer.START - UDP_BYTES - IPV6_BYTES;
        var udpLength = UDP_BYTES + covered + BYTES;
        BigEndian.putLongInteger(memory, ip - 8, -1);
        BigEndian.putInteger(memory, ip, 0x6fff_ffff);
        BigEndian.putInteger(memory, ip + 4, udpLength << 16 | UDP << 8 | 0xff);
        BigEndian.putLongInteger(memory, ip + 8, packet.sourceHigh());
        BigEndian.putLongInteger(memory, ip + 16, packet.sourceLow());
        BigEndian.putLongInteger(memory, ip + 24, packet.destinationHigh());
        BigEndian.putLongInteger(memory, ip + 32, packet.destinationLow());
        udp(memory, packet.sourcePort(), udpLength);
        return ip - 8;
    }

    private static void udp(MemorySegment memory, int sourcePort, int length) {
        BigEndian.putInteger(
                memory, PacketBuffer.START - 8, sourcePort << 16 | PacketBuffer.UDP_PORT);
        BigEndian.putInteger(memory, PacketBuffer.START - 4, length << 16 | 0xffff);
    }

    /** The product of two polynomials, lowest power in the highest bit, in constant time. */
    private static int multiply(int a, int b) {
        var product = 0;
        for (var bit = 0; bit < 32; bit++) {
            product ^= b & (a >> 31);
            a <<= 1;
            b = (b >>> 1) ^ (POLYNOMIAL & -(b & 1));
        }
        return product;
    }

    private static int[] powersOfInverse() {
        var powers = new int[PacketBuffer.MEMORY_BYTES + IDENTIFICATION_TO_PACKET];
        powers[0] = 0x8000_0000;
        for (var i = 1; i < powers.length; i++) {
            var power = powers[i - 1];
            for (var bit = 0; bit < 8; bit++) {
                power = power < 0 ? (power ^ POLYNOMIAL) << 1 | 1 : power << 1;
            }
            powers[i] = power;
        }
        return powers;
    }
}
