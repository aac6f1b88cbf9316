package org.jrdma.verbs.model;

/** An option for opening a device. */
public enum DeviceOpenOption {
    /**
     * Posts and polls by critical native calls. These skip the JVM's thread state transition, so a
     * call takes about a third of the time. The option suits adapters whose providers post by
     * writing to a mapped register. It does not suit rxe and siw, whose providers enter the kernel
     * to post: a garbage collection that starts during a call stalls the whole JVM until the call
     * returns.
     */
    CRITICAL_CALLS
}
