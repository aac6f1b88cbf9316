package org.jrdma.soft.roce.engine;

/**
 * The identity of an XRC domain. A request over an XRC connection can name only the receive queues
 * in the domain of the queue pair that receives the request. The object has no state; it is
 * compared by identity.
 */
public final class XrcDomainIdentity {}
