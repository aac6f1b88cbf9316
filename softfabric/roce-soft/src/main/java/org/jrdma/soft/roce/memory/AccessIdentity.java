package org.jrdma.soft.roce.memory;

/**
 * The subject of an access check. For an access by a peer, the subject is the queue pair that
 * executes the request. For a local access, it is a protection domain.
 */
public interface AccessIdentity {

    /** The protection domain that the accessed memory must be registered in. */
    ProtectionDomain domain();
}
