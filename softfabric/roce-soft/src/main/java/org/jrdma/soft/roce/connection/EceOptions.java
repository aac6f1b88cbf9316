package org.jrdma.soft.roce.connection;

/**
 * What drivers of two sides would agree upon beyond the specification.
 *
 * @param vendor whose options they are, 24 bits; 0 for nobody's
 * @param options their bits
 */
public record EceOptions(int vendor, int options) {

    public static final EceOptions NONE = new EceOptions(0, 0);
}
