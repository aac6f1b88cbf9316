package org.jrdma.soft.sisci.fabric;

/**
 * Whether a device can be borrowed.
 *
 * @param isAvailable true if the lender permits new borrows
 * @param isExclusive true if the current borrow is exclusive
 * @param borrows the number of current borrows
 */
public record LendingState(boolean isAvailable, boolean isExclusive, int borrows) {

    private static final int AVAILABLE = 1;
    private static final int EXCLUSIVE = 1 << 1;
    private static final int BORROWS_SHIFT = 8;

    /** Returns this state as a number for a message. */
    long encode() {
        return (isAvailable ? AVAILABLE : 0)
                | (isExclusive ? EXCLUSIVE : 0)
                | (long) borrows << BORROWS_SHIFT;
    }

    /** Decodes the number in a message of another process. */
    static LendingState decode(long value) {
        return new LendingState(
                (value & AVAILABLE) != 0,
                (value & EXCLUSIVE) != 0,
                (int) (value >>> BORROWS_SHIFT) & Integer.MAX_VALUE);
    }
}
