package org.jrdma.soft.roce.engine;

/** What regions and queue pairs share or don't. An identity, nothing else. */
public final class ProtectionDomain implements Accessor {

    @Override
    public ProtectionDomain domain() {
        return this;
    }
}
