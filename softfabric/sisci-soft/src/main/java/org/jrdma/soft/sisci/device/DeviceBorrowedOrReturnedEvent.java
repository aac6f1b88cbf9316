package org.jrdma.soft.sisci.device;

/**
 * The start or the end of a borrow of a lent device.
 *
 * @param kind the kind of event
 * @param node the id of the borrower's node
 * @param borrows the number of borrows of the device after this event
 */
public record DeviceBorrowedOrReturnedEvent(Kind kind, int node, int borrows) {

    /** The kind of an event. */
    public enum Kind {
        /** A node has borrowed the device. */
        BORROWED,
        /** A node has returned the device, or the process that had borrowed it has ended. */
        RETURNED
    }
}
