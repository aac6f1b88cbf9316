package org.jrdma.sisci.smartio;

/** How a device is borrowed. */
public enum BorrowMode {
    /** Other borrowers may use the device at the same time. */
    SHARED,
    /** No other borrower may use the device at the same time. In C: {@code SCI_FLAG_EXCLUSIVE}. */
    EXCLUSIVE
}
