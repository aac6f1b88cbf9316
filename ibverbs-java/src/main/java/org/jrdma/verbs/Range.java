package org.jrdma.verbs;

/** Numbers that must fit a field of C's, which would cut them off without a word. */
final class Range {

    private Range() {}

    static void check(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    "%s is %d to %d, not %d".formatted(what, least, most, value));
        }
    }

    static int check(String what, int value, int least, int most) {
        check(what, (long) value, least, most);
        return value;
    }
}
