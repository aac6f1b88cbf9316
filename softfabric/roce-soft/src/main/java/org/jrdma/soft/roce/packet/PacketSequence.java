package org.jrdma.soft.roce.packet;

/** Arithmetic on packet sequence numbers (PSN): 24 bits that wrap around. */
public final class PacketSequence {

    public static final int MASK = 0xff_ffff;

    private PacketSequence() {}

    /**
     * Returns the number {@code count} after {@code sequence}, or before it if {@code count} is
     * negative.
     */
    public static int plus(int sequence, int count) {
        return sequence + count & MASK;
    }

    /**
     * Returns the distance from one number to another, -2^23 to 2^23-1; negative if {@code to} is
     * before {@code from}.
     */
    public static int distance(int from, int to) {
        return (to - from) << 8 >> 8;
    }
}
