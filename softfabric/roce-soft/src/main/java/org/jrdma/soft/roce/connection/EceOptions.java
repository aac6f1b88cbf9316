package org.jrdma.soft.roce.connection;

/**
 * The options of Enhanced Connection Establishment (ECE), which drivers negotiate.
 *
 * @param vendor the ID of the vendor that defines the options, 24 bits; 0 for none
 * @param options the option bits
 */
public record EceOptions(int vendor, int options) {

    public static final EceOptions NONE = new EceOptions(0, 0);
}
