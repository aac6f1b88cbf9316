package org.jrdma.verbs.model;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Optional;

/**
 * A port's address on the fabric, 128 bits. On RoCE it is an IPv6 address, or an IPv4 address in
 * its IPv6-mapped form. In C: {@code union ibv_gid}.
 *
 * @param prefix the upper half, in C {@code global.subnet_prefix}
 * @param interfaceId the lower half, in C {@code global.interface_id}
 */
public record Gid(long prefix, long interfaceId) {

    /** The size in bytes. */
    public static final int BYTES = 16;

    /**
     * No address: what a port without GIDs has, and what a peer on plain InfiniBand need not send.
     */
    public static final Gid NONE = new Gid(0, 0);

    private static final long IPV4_MAPPED = 0xffffL;

    /** The GID of these 32 hexadecimal digits, the form in which the C examples exchange it. */
    public static Gid parse(String digits) {
        if (digits.length() != 2 * BYTES) {
            throw new IllegalArgumentException("A GID has 32 hexadecimal digits: " + digits);
        }
        return new Gid(
                HexFormat.fromHexDigitsToLong(digits, 0, 16),
                HexFormat.fromHexDigitsToLong(digits, 16, 32));
    }

    /** The GID of an IP address: itself, or the mapped form of an IPv4 address. */
    public static Gid of(InetAddress address) {
        var bytes = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet4Address
                ? new Gid(0, (IPV4_MAPPED << 32) | Integer.toUnsignedLong(bytes.getInt()))
                : new Gid(bytes.getLong(), bytes.getLong());
    }

    /** Whether this is the mapped form of an IPv4 address. */
    public boolean isIpv4() {
        return prefix == 0 && interfaceId >>> 32 == IPV4_MAPPED;
    }

    /**
     * Whether this is an IPv6 address of one link only, {@code fe80::}, or InfiniBand's default
     * prefix, which is the same.
     */
    public boolean isLinkLocal() {
        return prefix >>> 54 == 0xfe80L >>> 6;
    }

    /** Whether this is a group's address, IPv6 or IPv4. */
    public boolean isMulticast() {
        return isIpv4() ? (interfaceId >>> 28 & 0xf) == 0xe : prefix >>> 56 == 0xff;
    }

    /** Whether this is {@link #NONE}. */
    public boolean isNone() {
        return prefix == 0 && interfaceId == 0;
    }

    /** The IPv4 address that this is the mapped form of. */
    public Optional<InetAddress> ipv4() {
        if (!isIpv4()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    InetAddress.getByAddress(
                            ByteBuffer.allocate(4).putInt((int) interfaceId).array()));
        } catch (UnknownHostException e) {
            throw new AssertionError("four bytes are an address", e);
        }
    }

    /** The 32 hexadecimal digits that {@link #parse} reads. */
    public String toHexDigits() {
        return HexFormat.of().toHexDigits(prefix) + HexFormat.of().toHexDigits(interfaceId);
    }

    /** As {@code ::ffff:10.77.0.1}, or eight groups of hexadecimal digits. */
    @Override
    public String toString() {
        return ipv4().map(address -> "::ffff:" + address.getHostAddress())
                .orElseGet(() -> toHexDigits().replaceAll("(.{4})(?=.)", "$1:"));
    }
}
