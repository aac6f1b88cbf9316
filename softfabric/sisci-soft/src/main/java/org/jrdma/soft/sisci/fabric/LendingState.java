package org.jrdma.soft.sisci.fabric;

import java.util.List;

/**
 * The borrows of a device, and whether it can be borrowed.
 *
 * @param isAvailable true if the lender permits new borrows
 * @param isExclusive true if the current borrow is exclusive
 * @param borrowers the node of each current borrow, in increasing order
 */
public record LendingState(boolean isAvailable, boolean isExclusive, List<Integer> borrowers) {

    private static final int AVAILABLE = 1;
    private static final int EXCLUSIVE = 1 << 1;

    /** Returns this state without the borrowers as a number for a message. */
    long flags() {
        return (isAvailable ? AVAILABLE : 0) | (isExclusive ? EXCLUSIVE : 0);
    }

    /** Decodes the number in a message of another process. */
    static LendingState of(long flags, List<Integer> borrowers) {
        return new LendingState((flags & AVAILABLE) != 0, (flags & EXCLUSIVE) != 0, borrowers);
    }
}
