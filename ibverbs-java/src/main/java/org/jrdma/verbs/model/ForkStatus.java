package org.jrdma.verbs.model;

/**
 * Whether a forked child may run without harm to registered memory. Starting a program with
 * ProcessBuilder is harmless in any case. In C: {@code enum ibv_fork_status}.
 */
public enum ForkStatus {
    /** A fork may move registered pages away from this process. */
    DISABLED,
    /** The library protects registered pages. */
    ENABLED,
    /** The kernel copies registered pages for the child. */
    UNNEEDED,
    /** The library is too old to tell. */
    UNKNOWN
}
