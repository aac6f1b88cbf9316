package org.jrdma.soft.roce.memory;

/**
 * An identity whose permission to access memory is checked. For an access by a peer, it is the
 * queue pair that executes the request. For a local access, it is a protection domain.
 */
public interface AccessIdentity {

    /** The protection domain that the accessed memory must be registered in. */
    ProtectionDomain domain();
}
