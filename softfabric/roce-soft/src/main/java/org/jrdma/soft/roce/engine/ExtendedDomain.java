package org.jrdma.soft.roce.engine;

/**
 * An XRC domain: an extended connection can name the receive queues of its domain. The object is
 * only an identity.
 */
public final class ExtendedDomain {}
