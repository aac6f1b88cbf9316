package org.jrdma.verbs.model;

/** What atomic operations are atomic against. In C: {@code enum ibv_atomic_cap}. */
public enum AtomicCapability {
    /** There are no atomic operations. */
    NONE,
    /** Against other operations through the same device; not against this machine's processors. */
    DEVICE,
    /** Against everything, the processors included. */
    GLOBAL,
    /** A number that this version does not know. */
    UNKNOWN
}
