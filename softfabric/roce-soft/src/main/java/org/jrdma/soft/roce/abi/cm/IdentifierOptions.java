package org.jrdma.soft.roce.abi.cm;

import org.jrdma.soft.roce.connection.EceOptions;

/**
 * The options that the program has set for an {@code rdma_cm_id}. Guarded by the lock of {@link
 * ConnectionExports}.
 */
final class IdentifierOptions {

    int trafficClass;

    /** The flow label of the path from the peer's connect request; 0 if this side connects. */
    int flowLabel;

    /**
     * The exponent of the acknowledgement timeout of the queue pair, in units of 4.096 us; negative
     * if the program has not set it.
     */
    int acknowledgeTimeout = -1;

    /** The ECE options that the program has set. */
    EceOptions enhancement = EceOptions.NONE;

    boolean reusesAddress;

    /**
     * True if a listener on the IPv6 wildcard address accepts only IPv6 connections ({@code
     * RDMA_OPTION_ID_AFONLY}).
     */
    boolean familyOnly;
}
