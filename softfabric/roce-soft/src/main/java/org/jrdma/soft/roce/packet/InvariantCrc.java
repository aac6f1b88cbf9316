package org.jrdma.soft.roce.packet;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32;

/**
 * The checksum at the end of each packet (ICRC): the CRC-32 of the IP and UDP headers and the
 * packet, in which fields that routers may change are replaced by ones.
 *
 * <p>The checksum covers the identification field of an IPv4 header, which a UDP socket does not
 * expose. This implementation sends 0; the kernel's rxe sends a counter. Over IPv4, the check
 * therefore also accepts a checksum that is correct for any other identification. 16 of the 32 bits
 * remain to detect damage. Over IPv6 the check is exact.
 *
 * <p>Confined to one thread at a time.
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

    /** The bytes from the start of the identification to the end of the IPv4 and UDP headers. */
    private static final int IDENTIFICATION_TO_PACKET = IPV4_BYTES - 4 + UDP_BYTES;

    /** The polynomial of CRC-32 without x^32, the lowest power in the highest bit. */
    private static final int POLYNOMIAL = 0xedb8_8320;

    /** x^(-8 i) for each number of bytes i. */
    private static final int[] INVERSE_POWERS = powersOfInverse();

    private final CRC32 crc = new CRC32();

    /** Appends the checksum to a packet whose addresses, source port and length are set. */
    public void seal(PacketBuffer packet) {
        var covered = packet.length();
        packet.memory()
                .set(LITTLE_ENDIAN_INT, PacketBuffer.START + covered, compute(packet, covered));
        packet.length(covered + BYTES);
    }

    /**
     * Returns true if the checksum of a packet is correct. The packet must have at least the length
     * of a base transport header and a checksum.
     */
    public boolean matches(PacketBuffer packet) {
        var covered = packet.length() - BYTES;
        var received = packet.memory().get(LITTLE_ENDIAN_INT, PacketBuffer.START + covered);
        var difference = received ^ compute(packet, covered);
        return difference == 0 || (packet.isIpv4() && isIdentification(difference, covered));
    }

    /**
     * Returns true if an identification other than 0 explains the difference.
     *
     * <p>CRC is linear: a change of the message changes the CRC by the CRC of the change alone.
     * That is the 16 changed bits times a power of x that depends on the number of bytes that
     * follow. Multiplied by the inverse of that power, the difference must be 16 bits again.
     */
    private static boolean isIdentification(int difference, int covered) {
        return multiply(difference, INVERSE_POWERS[covered + IDENTIFICATION_TO_PACKET]) >>> 16 == 0;
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

    /**
     * Writes the IPv4 and UDP headers before a packet. Returns the offset of the first byte that
     * the checksum covers.
     */
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

    /**
     * Writes the IPv6 and UDP headers before a packet. Returns the offset of the first byte that
     * the checksum covers.
     */
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

    /**
     * Returns the product of two polynomials, the lowest power in the highest bit, in constant
     * time.
     */
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
