package org.jrdma.soft.roce.memory;

/**
 * A protection domain: queue pairs can access only memory registered in the same domain. The object
 * is only an identity.
 */
public final class ProtectionDomain implements AccessIdentity {

    @Override
    public ProtectionDomain domain() {
        return this;
    }
}
