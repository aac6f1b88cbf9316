package org.jrdma.soft.roce.engine;

/** What became of an attempt to send one packet. */
enum TransmitResult {
    SENT,
    /** Nothing to send now. */
    IDLE,
    /** The link has no buffer. */
    LINK_FULL
}
