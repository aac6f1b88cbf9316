package org.jrdma.soft.roce.abi.cm;

import org.jrdma.soft.roce.connection.EceOptions;

/** The options of an identifier. Guarded by the connection manager's lock. */
final class IdentifierOptions {

    int trafficClass;

    /** The acknowledge timeout; negative if the program has not set it. */
    int acknowledgeTimeout = -1;

    /** The ECE options that the program has set. */
    EceOptions enhancement = EceOptions.NONE;

    boolean reusesAddress;

    /** Whether the IPv6 wildcard address stands for IPv6 only. */
    boolean familyOnly;
}
