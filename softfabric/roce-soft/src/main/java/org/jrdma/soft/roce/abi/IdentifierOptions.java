package org.jrdma.soft.roce.abi;

import org.jrdma.soft.roce.connection.Enhancement;

/** What a program has set of an identifier. Under the connection manager's lock. */
final class IdentifierOptions {

    int trafficClass;

    /** Below zero where the program has not chosen. */
    int acknowledgeTimeout = -1;

    /** What the program's driver would have both sides do. */
    Enhancement enhancement = Enhancement.NONE;

    boolean reusesAddress;

    /** Whether the wildcard of IPv6 stands for IPv6 alone. */
    boolean familyOnly;
}
