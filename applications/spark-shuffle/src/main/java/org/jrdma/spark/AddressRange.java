package org.jrdma.spark;

import java.net.InetAddress;

/**
 * The IP addresses of a subnet, or a single IP address.
 *
 * @param network an address of the subnet
 * @param prefix the number of leading bits that the addresses of the subnet have in common
 */
record AddressRange(InetAddress network, int prefix) {

    /**
     * Parses an IP address, or a subnet such as {@code 10.1.0.0/16}.
     *
     * @throws IllegalArgumentException if the text is neither
     */
    static AddressRange parse(String text) {
        var parts = text.split("/", -1);
        try {
            var network = InetAddress.ofLiteral(parts[0]);
            var bits = network.getAddress().length * Byte.SIZE;
            var prefix = parts.length == 1 ? bits : Integer.parseUnsignedInt(parts[1]);
            if (parts.length <= 2 && 0 <= prefix && prefix <= bits) {
                return new AddressRange(network, prefix);
            }
        } catch (IllegalArgumentException e) {
            // The text is rejected below.
        }
        throw new IllegalArgumentException(
                "\"%s\" is neither an IP address nor a subnet such as 10.1.0.0/16".formatted(text));
    }

    /** Returns true if this range has only one address. */
    boolean isSingle() {
        return prefix == network.getAddress().length * Byte.SIZE;
    }

    boolean contains(InetAddress address) {
        var expected = network.getAddress();
        var actual = address.getAddress();
        if (expected.length != actual.length) {
            return false;
        }
        for (var bit = 0; bit < prefix; bit++) {
            var mask = 0x80 >>> bit % Byte.SIZE;
            if (((expected[bit / Byte.SIZE] ^ actual[bit / Byte.SIZE]) & mask) != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return isSingle() ? network.getHostAddress() : network.getHostAddress() + "/" + prefix;
    }
}
