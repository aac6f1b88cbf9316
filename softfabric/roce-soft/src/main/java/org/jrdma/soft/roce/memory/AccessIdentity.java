package org.jrdma.soft.roce.memory;

/**
 * The identity that memory is accessed with: a queue pair for accesses by its peer, a protection
 * domain for local accesses.
 */
public interface AccessIdentity {

    /** The protection domain that the accessed memory must belong to. */
    ProtectionDomain domain();
}
