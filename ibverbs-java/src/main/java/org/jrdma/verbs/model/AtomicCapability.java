package org.jrdma.verbs.model;

/** The scope within which atomic operations are atomic. In C: {@code enum ibv_atomic_cap}. */
public enum AtomicCapability {
    /** Atomic operations are not supported. */
    NONE,
    /**
     * Atomic with respect to other operations through the same device, but not to this machine's
     * processors.
     */
    DEVICE,
    /** Atomic with respect to all accesses, including those of the processors. */
    GLOBAL,
    /** A value that this version does not know. */
    UNKNOWN
}
