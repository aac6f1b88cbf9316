package org.jrdma.soft.roce.connection;

/**
 * The options that the drivers of both sides negotiate (Enhanced Connection Establishment, ECE).
 *
 * @param vendor the ID of the vendor that defines the options, 24 bits; 0 if there are no options
 * @param options the option bits, whose meaning the vendor defines
 */
public record EceOptions(int vendor, int options) {

    public static final EceOptions NONE = new EceOptions(0, 0);
}
