package org.jrdma.soft.roce.packet;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.ValueLayout;
import java.util.zip.CRC32;

/**
 * The checksum at the end of each packet (ICRC). It is the CRC-32 of the IP and UDP headers and of
 * the packet. Fields that routers may change are replaced by ones before the computation.
 *
 * <p>The checksum covers the identification field of the IPv4 header, which a UDP socket does not
 * expose. This implementation sends 0 in that field; the kernel's rxe sends a counter. Over IPv4,
 * {@link #matches} therefore also accepts a checksum that would be correct with any other
 * identification. Of the 32 bits of the checksum, 16 remain to detect damage. Over IPv6, the check
 * is exact.
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

    /**
     * The number of bytes from the start of the identification field to the end of the UDP header.
     */
    private static final int IDENTIFICATION_TO_PACKET = IPV4_BYTES - 4 + UDP_BYTES;

    /**
     * The CRC-32 polynomial without the term x^32, in reflected form: the most significant bit is
     * the coefficient of x^0.
     */
    private static final int POLYNOMIAL = 0xedb8_8320;

    /** The polynomials x^(-8 i) modulo the CRC polynomial, by number of bytes i. */
    private static final int[] INVERSE_POWERS = powersOfInverse();

    private final CRC32 crc = new CRC32();

    /** Appends the checksum to a packet. Its addresses, source port and length must be set. */
    public void seal(PacketBuffer packet) {
        var covered = packet.length();
        packet.memory().set(LITTLE_ENDIAN_INT, packet.start() + covered, compute(packet, covered));
        packet.length(covered + BYTES);
        packet.sealed(true);
    }

    /** Appends zeros to a packet instead of the checksum. */
    public static void omit(PacketBuffer packet) {
        var covered = packet.length();
        packet.memory().set(LITTLE_ENDIAN_INT, packet.start() + covered, 0);
        packet.length(covered + BYTES);
        packet.sealed(false);
    }

    /** Replaces the zeros at the end of a packet without a checksum with the checksum. */
    public void replaceOmitted(PacketBuffer packet) {
        packet.length(packet.length() - BYTES);
        seal(packet);
    }

    /**
     * Returns true if the checksum of a packet is correct, or was {@linkplain #omit omitted}. The
     * packet must be at least as long as a base transport header and a checksum together.
     */
    public boolean matches(PacketBuffer packet) {
        if (!packet.isSealed()) {
            return true;
        }
        var covered = packet.length() - BYTES;
        var received = packet.memory().get(LITTLE_ENDIAN_INT, packet.start() + covered);
        var difference = received ^ compute(packet, covered);
        return difference == 0 || (packet.isIpv4() && isIdentification(difference, covered));
    }

    /**
     * Returns true if an IPv4 identification other than 0 explains the difference between the
     * received and the computed checksum.
     *
     * <p>CRC is linear: changing the message changes the CRC by the CRC of the change. If only the
     * identification differs, that CRC is a polynomial of 16 bits times a power of x, which depends
     * on the number of bytes after the identification. Multiplying the difference by the inverse of
     * that power must therefore yield a polynomial of 16 bits.
     *
     * @param difference the exclusive or of the received and the computed checksum
     * @param covered the number of bytes of the packet that the checksum covers
     */
    private static boolean isIdentification(int difference, int covered) {
        return multiply(difference, INVERSE_POWERS[covered + IDENTIFICATION_TO_PACKET]) >>> 16 == 0;
    }

    /**
     * Returns the checksum of the first {@code covered} bytes of a packet and of its IP and UDP
     * headers.
     */
    private int compute(PacketBuffer packet, int covered) {
        var memory = packet.memory();
        var start = packet.isIpv4() ? ipv4(packet, covered) : ipv6(packet, covered);
        var congestion = packet.start() + BaseTransportHeader.CONGESTION_OFFSET;
        var sent = memory.get(ValueLayout.JAVA_BYTE, congestion);
        memory.set(ValueLayout.JAVA_BYTE, congestion, (byte) 0xff);
        crc.reset();
        crc.update(packet.bytes().limit(packet.start() + covered).position(start));
        memory.set(ValueLayout.JAVA_BYTE, congestion, sent);
        return (int) crc.getValue();
    }

    /**
     * Writes the IPv4 and UDP headers before a packet. Returns the offset of the first byte that
     * the checksum covers.
     */
    private static int ipv4(PacketBuffer packet, int covered) {
        var memory = packet.memory();
        var ip = packet.start() - UDP_BYTES - IPV4_BYTES;
        var udpLength = UDP_BYTES + covered + BYTES;
        BigEndian.putLongInteger(memory, ip - 8, -1);
        BigEndian.putInteger(memory, ip, 0x45ff_0000 | IPV4_BYTES + udpLength);
        BigEndian.putInteger(memory, ip + 4, DO_NOT_FRAGMENT);
        BigEndian.putInteger(memory, ip + 8, 0xff00_ffff | UDP << 16);
        BigEndian.putInteger(memory, ip + 12, (int) packet.sourceLow());
        BigEndian.putInteger(memory, ip + 16, (int) packet.destinationLow());
        udp(packet, udpLength);
        return ip - 8;
    }

    /**
     * Writes the IPv6 and UDP headers before a packet. Returns the offset of the first byte that
     * the checksum covers.
     */
    private static int ipv6(PacketBuffer packet, int covered) {
        var memory = packet.memory();
        var ip = packet.start() - UDP_BYTES - IPV6_BYTES;
        var udpLength = UDP_BYTES + covered + BYTES;
        BigEndian.putLongInteger(memory, ip - 8, -1);
        BigEndian.putInteger(memory, ip, 0x6fff_ffff);
        BigEndian.putInteger(memory, ip + 4, udpLength << 16 | UDP << 8 | 0xff);
        BigEndian.putLongInteger(memory, ip + 8, packet.sourceHigh());
        BigEndian.putLongInteger(memory, ip + 16, packet.sourceLow());
        BigEndian.putLongInteger(memory, ip + 24, packet.destinationHigh());
        BigEndian.putLongInteger(memory, ip + 32, packet.destinationLow());
        udp(packet, udpLength);
        return ip - 8;
    }

    private static void udp(PacketBuffer packet, int length) {
        var memory = packet.memory();
        var udp = packet.start() - UDP_BYTES;
        BigEndian.putInteger(memory, udp, packet.sourcePort() << 16 | PacketBuffer.UDP_PORT);
        BigEndian.putInteger(memory, udp + 4, length << 16 | 0xffff);
    }

    /**
     * Returns the product of two polynomials modulo the CRC polynomial, in constant time. All
     * polynomials are in reflected form: the most significant bit is the coefficient of x^0.
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

    /** Computes {@link #INVERSE_POWERS}. */
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
