package org.jrdma.soft.roce.memory;

/** What regions and queue pairs share or don't. An identity, nothing else. */
public final class ProtectionDomain implements MemoryAccessor {

    @Override
    public ProtectionDomain domain() {
        return this;
    }
}
