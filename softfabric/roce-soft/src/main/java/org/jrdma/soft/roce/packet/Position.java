package org.jrdma.soft.roce.packet;

/** The position of a packet in its message. */
public enum Position {
    FIRST,
    MIDDLE,
    LAST,
    ONLY;

    /** Returns the position of the packet with an index in a message of {@code count} packets. */
    public static Position of(int index, int count) {
        if (count == 1) {
            return ONLY;
        }
        return index == 0 ? FIRST : index == count - 1 ? LAST : MIDDLE;
    }

    /** Returns true if a packet at this position begins a message. */
    public boolean begins() {
        return this == FIRST || this == ONLY;
    }

    /** Returns true if a packet at this position ends a message. */
    public boolean ends() {
        return this == LAST || this == ONLY;
    }
}
