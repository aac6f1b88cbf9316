package org.jrdma.soft.roce.engine;

/** The result of an attempt to send one packet. */
enum TransmitResult {
    SENT,
    /** There is nothing to send now. */
    IDLE,
    /** The link has no buffer. */
    LINK_FULL
}
