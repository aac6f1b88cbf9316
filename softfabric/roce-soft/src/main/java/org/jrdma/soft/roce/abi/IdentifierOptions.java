package org.jrdma.soft.roce.abi;

/** What a program has set of an identifier. Under the connection manager's lock. */
final class IdentifierOptions {

    int trafficClass;

    /** Below zero where the program has not chosen. */
    int acknowledgeTimeout = -1;

    boolean reusesAddress;

    /** Whether the wildcard of IPv6 stands for IPv6 alone. */
    boolean familyOnly;
}
