package org.jrdma.soft.roce.engine;

/** In whose name memory is accessed: a queue pair's for its peer, a domain's for this side. */
sealed interface Accessor permits ProtectionDomain, QueuePair {

    ProtectionDomain domain();
}
