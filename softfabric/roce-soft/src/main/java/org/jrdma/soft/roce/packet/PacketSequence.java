package org.jrdma.soft.roce.packet;

/** Arithmetic with packet sequence numbers (PSN), which have 24 bits and wrap around. */
public final class PacketSequence {

    public static final int MASK = 0xff_ffff;

    private PacketSequence() {}

    /**
     * Returns the sequence number that is {@code count} after {@code sequence}; a negative {@code
     * count} means before.
     */
    public static int plus(int sequence, int count) {
        return sequence + count & MASK;
    }

    /**
     * Returns the distance between two sequence numbers, from -2^23 to 2^23-1. The distance is
     * negative if {@code to} is before {@code from}.
     */
    public static int distance(int from, int to) {
        return (to - from) << 8 >> 8;
    }
}
