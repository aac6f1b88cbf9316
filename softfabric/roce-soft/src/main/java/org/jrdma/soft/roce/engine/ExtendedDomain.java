package org.jrdma.soft.roce.engine;

/**
 * An XRC domain: a request over an extended connection can name only receive queues of the domain
 * to which the receiving queue pair belongs. The object has no state; it is compared by identity.
 */
public final class ExtendedDomain {}
