package org.jrdma.ffi.linkage;

/** Checks of numbers that must fit into a field of a C structure, which would truncate them. */
public final class FieldRange {

    private FieldRange() {}

    /**
     * Checks a value against the inclusive bounds of its field.
     *
     * @param name the field as the message calls it
     * @throws IllegalArgumentException if the value is out of bounds
     */
    public static void check(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    "%s is %d to %d, not %d".formatted(name, least, most, value));
        }
    }

    /** Checks an int against the inclusive bounds of its field, and returns it. */
    public static int check(String name, int value, int least, int most) {
        check(name, (long) value, least, most);
        return value;
    }
}
