package org.jrdma.verbs.model;

/**
 * The status of the protection of registered memory against the effects of {@code fork}. Starting a
 * program with {@link ProcessBuilder} is safe with every status. In C: {@code enum
 * ibv_fork_status}.
 */
public enum ForkStatus {
    /**
     * Registered memory is not protected. After a fork, this process may use copies of registered
     * pages, while the adapter accesses the original pages.
     */
    DISABLED,
    /** The library protects registered memory. */
    ENABLED,
    /**
     * No protection is needed, because the kernel copies registered pages for the child process
     * during the fork.
     */
    UNNEEDED,
    /** The library is too old to report the status. */
    UNKNOWN
}
