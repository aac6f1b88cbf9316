package org.jrdma.soft.roce.engine;

/**
 * What extended connections share with the receive queues that may be named over them (XRC domain).
 * An identity, nothing else.
 */
public final class ExtendedDomain {}
