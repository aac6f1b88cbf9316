package org.jrdma.soft.roce.abi.cm;

import org.jrdma.soft.roce.connection.EceOptions;

/**
 * The options of an identifier that the program has set. Guarded by the lock of {@link
 * ConnectionExports}.
 */
final class IdentifierOptions {

    int trafficClass;

    /** The flow label of the path, which the peer has requested; 0 if this side connects. */
    int flowLabel;

    /**
     * The exponent of the acknowledgement timeout of the queue pair, in units of 4.096 us; negative
     * if the program has not set it.
     */
    int acknowledgeTimeout = -1;

    /** The ECE options that the program has set. */
    EceOptions enhancement = EceOptions.NONE;

    boolean reusesAddress;

    /** True if a listener on the IPv6 wildcard address accepts IPv6 connections only. */
    boolean familyOnly;
}
