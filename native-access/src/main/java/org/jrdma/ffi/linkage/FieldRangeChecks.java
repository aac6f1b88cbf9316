package org.jrdma.ffi.linkage;

/**
 * Range checks of values that are stored in fields of C structures. Without a check, a value that
 * is too large for its field would be truncated.
 */
public final class FieldRangeChecks {

    private FieldRangeChecks() {}

    /**
     * Checks a value against the inclusive bounds of its field.
     *
     * @param name the name of the field for messages
     * @throws IllegalArgumentException if the value is out of bounds
     */
    public static void check(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    "The %s must be between %d and %d: %d".formatted(name, least, most, value));
        }
    }

    /** Checks a value against the inclusive bounds of its field, and returns the value. */
    public static int check(String name, int value, int least, int most) {
        check(name, (long) value, least, most);
        return value;
    }
}
