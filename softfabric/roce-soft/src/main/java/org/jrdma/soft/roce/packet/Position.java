package org.jrdma.soft.roce.packet;

/** Where in its message a packet stands. */
public enum Position {
    FIRST,
    MIDDLE,
    LAST,
    ONLY;

    /** The position of packet {@code index} of {@code count}. */
    public static Position of(int index, int count) {
        if (count == 1) {
            return ONLY;
        }
        return index == 0 ? FIRST : index == count - 1 ? LAST : MIDDLE;
    }

    /** Whether a message begins with it. */
    public boolean begins() {
        return this == FIRST || this == ONLY;
    }

    /** Whether a message ends with it. */
    public boolean ends() {
        return this == LAST || this == ONLY;
    }
}
