package org.jrdma.soft.roce.packet;

/** Packet sequence numbers (PSN): 24 bits that wrap, ordered within half the circle. */
public final class PacketSequence {

    public static final int MASK = 0xff_ffff;

    private PacketSequence() {}

    /** The number {@code count} after {@code sequence}; before it, if negative. */
    public static int plus(int sequence, int count) {
        return sequence + count & MASK;
    }

    /**
     * How far {@code to} lies after {@code from}: negative if it lies before, from -2^23 to 2^23-1.
     */
    public static int distance(int from, int to) {
        return (to - from) << 8 >> 8;
    }
}
