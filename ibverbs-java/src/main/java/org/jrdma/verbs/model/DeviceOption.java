package org.jrdma.verbs.model;

/** How a device is used. */
public enum DeviceOption {
    /**
     * Posts and polls by calls that the JVM does not leave Java for, at a third of the cost. For
     * adapters whose posting writes to a mapped register. Not for rxe and siw, which enter the
     * kernel in it: the whole JVM waits meanwhile when it wants to collect garbage.
     */
    CRITICAL_CALLS
}
