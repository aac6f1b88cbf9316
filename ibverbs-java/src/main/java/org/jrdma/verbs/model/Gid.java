package org.jrdma.verbs.model;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Optional;

/**
 * A GID: a 128-bit address of a port or of a multicast group. On RoCE, it is an IPv6 address, or an
 * IPv4 address in IPv4-mapped form. In C: {@code union ibv_gid}.
 *
 * @param prefix the upper half, in C {@code global.subnet_prefix}
 * @param interfaceId the lower half, in C {@code global.interface_id}
 */
public record Gid(long prefix, long interfaceId) {

    /** The length of a GID in bytes. */
    public static final int BYTES = 16;

    /**
     * The value 0, which represents the absence of a GID, for example in the endpoint of an
     * InfiniBand port that peers in the same subnet address by its LID.
     */
    public static final Gid NONE = new Gid(0, 0);

    private static final long IPV4_MAPPED = 0xffffL;

    /**
     * Parses a GID in the form of 32 hexadecimal digits, which the example programs of libibverbs
     * exchange.
     *
     * @throws IllegalArgumentException if {@code digits} is not 32 hexadecimal digits
     */
    public static Gid parse(String digits) {
        if (digits.length() != 2 * BYTES) {
            throw new IllegalArgumentException("A GID must have 32 hexadecimal digits: " + digits);
        }
        return new Gid(
                HexFormat.fromHexDigitsToLong(digits, 0, 16),
                HexFormat.fromHexDigitsToLong(digits, 16, 32));
    }

    /**
     * Returns the GID for an IP address: the address itself for IPv6, or the IPv4-mapped form for
     * IPv4. {@link #toInetAddress()} is the inverse.
     */
    public static Gid of(InetAddress address) {
        var bytes = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet4Address
                ? new Gid(0, (IPV4_MAPPED << 32) | Integer.toUnsignedLong(bytes.getInt()))
                : new Gid(bytes.getLong(), bytes.getLong());
    }

    /** Returns true if this is an IPv4-mapped IPv6 address. */
    public boolean isIpv4() {
        return prefix == 0 && interfaceId >>> 32 == IPV4_MAPPED;
    }

    /**
     * Returns true if this is a link-local IPv6 address, with the prefix {@code fe80::/10}. The
     * default prefix of InfiniBand is within this range.
     */
    public boolean isLinkLocal() {
        return prefix >>> 54 == 0xfe80L >>> 6;
    }

    /** Returns true if this is an IPv6 or IPv4 multicast address. */
    public boolean isMulticast() {
        return isIpv4() ? (interfaceId >>> 28 & 0xf) == 0xe : prefix >>> 56 == 0xff;
    }

    /** Returns true if this is {@link #NONE}. */
    public boolean isNone() {
        return prefix == 0 && interfaceId == 0;
    }

    /** The IPv4 address in this GID; empty if this is not an IPv4-mapped IPv6 address. */
    public Optional<InetAddress> ipv4() {
        return isIpv4() ? Optional.of(toInetAddress()) : Optional.empty();
    }

    /**
     * Returns the IP address for which {@link #of} returns this GID. A link-local address has no
     * scope, so that it cannot be connected to without its network interface. On InfiniBand, a GID
     * is not the IP address of its port.
     */
    public InetAddress toInetAddress() {
        var bytes = ByteBuffer.allocate(BYTES).putLong(prefix).putLong(interfaceId).array();
        try {
            return InetAddress.getByAddress(bytes); // An Inet4Address for an IPv4-mapped address.
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are always a valid IPv6 address", e);
        }
    }

    /** Formats the GID as the 32 hexadecimal digits that {@link #parse} reads. */
    public String toHexDigits() {
        return HexFormat.of().toHexDigits(prefix) + HexFormat.of().toHexDigits(interfaceId);
    }

    /** Formats the GID as {@code ::ffff:10.77.0.1}, or as eight groups of hexadecimal digits. */
    @Override
    public String toString() {
        return ipv4().map(address -> "::ffff:" + address.getHostAddress())
                .orElseGet(() -> toHexDigits().replaceAll("(.{4})(?=.)", "$1:"));
    }
}
