package org.jrdma.verbs.model;

/** The scope within which atomic operations are atomic. In C: {@code enum ibv_atomic_cap}. */
public enum AtomicCapability {
    /** Atomic operations are not supported. */
    NONE,
    /**
     * Atomic operations are atomic with respect to other operations through the same device, but
     * not with respect to accesses by the processors of the machine.
     */
    DEVICE,
    /**
     * Atomic operations are atomic with respect to all accesses to the memory, including those by
     * the processors of the machine.
     */
    GLOBAL,
    /** A value that this version of the SDK does not know. */
    UNKNOWN
}
