package org.jrdma.soft.roce.engine;

/** The result of an attempt to send one packet. */
enum TransmitResult {
    SENT,
    /** There is no packet that may be sent now. */
    IDLE,
    /** A packet could be sent, but the {@link NetworkPacketSender} has no free buffer. */
    LINK_FULL
}
