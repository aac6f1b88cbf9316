package org.jrdma.soft.roce.memory;

/**
 * A protection domain: queue pairs can access only memory that is registered in the same domain.
 * Domains have no state and are compared by identity.
 */
public final class ProtectionDomain implements AccessIdentity {

    @Override
    public ProtectionDomain domain() {
        return this;
    }
}
