package org.jrdma.soft.roce.engine;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/** A GID: an IPv6 address, or an IPv4 address in IPv4-mapped form (::ffff:a.b.c.d). */
public record RoceGid(long high, long low) {

    /** Returns the GID of an IPv4 address. */
    public static RoceGid ipv4(int address) {
        return new RoceGid(0, 0xffffL << 32 | Integer.toUnsignedLong(address));
    }

    /** Returns the GID of an IP address. */
    public static RoceGid of(InetAddress address) {
        var bytes = ByteBuffer.wrap(address.getAddress());
        return bytes.remaining() == Integer.BYTES
                ? ipv4(bytes.getInt())
                : new RoceGid(bytes.getLong(), bytes.getLong());
    }

    public boolean isIpv4() {
        return high == 0 && low >>> 32 == 0xffff;
    }

    /** Returns true if this is the address of a multicast group. */
    public boolean isMulticast() {
        return isIpv4() ? (int) low >>> 28 == 0xe : high >>> 56 == 0xff;
    }

    /**
     * Returns true if this address is valid only together with a network interface. Several
     * interfaces can have the same link-local address.
     */
    public boolean isLinkLocal() {
        return isLinkLocal(high);
    }

    /**
     * Returns true if an IPv6 address is valid on one network interface only: fe80::/10, and
     * multicast groups of scope 1 and 2.
     *
     * @param high the first half of the address
     */
    public static boolean isLinkLocal(long high) {
        var first = (int) (high >>> 48);
        return (first & 0xffc0) == 0xfe80 || ((first & 0xff00) == 0xff00 && (first & 0xf) <= 2);
    }

    /** Returns the IP address that this GID represents. */
    public InetAddress inet() {
        var bytes = ByteBuffer.allocate(2 * Long.BYTES).putLong(high).putLong(low).array();
        try {
            // For the IPv4-mapped form, getByAddress returns an Inet4Address.
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("InetAddress rejected an address of 16 bytes", e);
        }
    }

    /** Returns the address in textual form, without a host name. */
    @Override
    public String toString() {
        return inet().getHostAddress();
    }
}
