package org.jrdma.soft.roce.abi.cm;

import org.jrdma.soft.roce.connection.EceOptions;

/** What a program has set of an identifier. Under the connection manager's lock. */
final class IdentifierOptions {

    int trafficClass;

    /** Below zero where the program has not chosen. */
    int acknowledgeTimeout = -1;

    /** What the program's driver would have both sides do. */
    EceOptions enhancement = EceOptions.NONE;

    boolean reusesAddress;

    /** Whether the wildcard of IPv6 stands for IPv6 alone. */
    boolean familyOnly;
}
