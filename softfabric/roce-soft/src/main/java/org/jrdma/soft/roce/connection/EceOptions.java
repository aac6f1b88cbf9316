package org.jrdma.soft.roce.connection;

/**
 * The options of Enhanced Connection Establishment (ECE), which the drivers of both sides
 * negotiate.
 *
 * @param vendor the ID of the vendor that defines the options, a number of 24 bits; 0 if there are
 *     no options
 * @param options the option bits
 */
public record EceOptions(int vendor, int options) {

    public static final EceOptions NONE = new EceOptions(0, 0);
}
