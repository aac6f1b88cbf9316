package org.jrdma.soft.roce.engine;

/** A GID: an IPv6 address, or an IPv4 address in its mapped form. */
public record Address(long high, long low) {

    /** The GID of an IPv4 address. */
    public static Address ipv4(int address) {
        return new Address(0, 0xffffL << 32 | Integer.toUnsignedLong(address));
    }
}
