package org.jrdma.verbs.model;

/** An option for opening a device. */
public enum DeviceOption {
    /**
     * Posts and polls by critical native calls, which skip the JVM's thread state transition and
     * cost a third. Suitable for adapters that post by writing to a mapped register. Not suitable
     * for rxe and siw, which enter the kernel to post: a garbage collection then stalls the whole
     * JVM until the call returns.
     */
    CRITICAL_CALLS
}
