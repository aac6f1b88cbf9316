package org.jrdma.verbs.model;

/**
 * The protection of registered memory against {@code fork}. Starting a program with {@link
 * ProcessBuilder} is always safe. In C: {@code enum ibv_fork_status}.
 */
public enum ForkStatus {
    /** A fork may move registered pages away from this process. */
    DISABLED,
    /** The library protects registered pages. */
    ENABLED,
    /** The kernel copies registered pages for the child. */
    UNNEEDED,
    /** The library is too old to report the status. */
    UNKNOWN
}
