package org.jrdma.verbs.model;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/** An access right of a memory region or of a queue pair. In C: {@code enum ibv_access_flags}. */
public enum Access {
    /**
     * The adapter may write to the memory on behalf of this process, because receives, reads and
     * atomic operations of this process store their data there. Sending data from the memory
     * requires no access right.
     */
    LOCAL_WRITE,
    /** Peers may write to the memory. Requires {@link #LOCAL_WRITE}. */
    REMOTE_WRITE,
    /** Peers may read the memory. */
    REMOTE_READ,
    /** Peers may perform atomic operations on the memory. Requires {@link #LOCAL_WRITE}. */
    REMOTE_ATOMIC,
    /** Memory windows may be bound to the region. */
    MEMORY_WINDOW_BIND,
    /** Peers address the region by offsets from 0 instead of by its virtual addresses. */
    ZERO_BASED,
    /**
     * The pages of the memory are not locked (on-demand paging). When the adapter accesses a page
     * that is not in memory, the kernel loads the page.
     */
    ON_DEMAND,
    /**
     * The program promises that the memory consists of huge pages and remains so, including in
     * forked child processes.
     */
    HUGE_PAGES,
    /** Peers may flush the memory to make their writes globally visible. */
    FLUSH_GLOBAL,
    /** Peers may flush the memory to make their writes persistent. */
    FLUSH_PERSISTENT,
    /**
     * Writes may become visible in a different order than they were sent. This access right is
     * optional: adapters and libraries that do not support it ignore it.
     */
    RELAXED_ORDERING;

    /** Returns a set of the given rights. */
    public static Set<Access> setOf(Access... access) {
        var set = EnumSet.noneOf(Access.class);
        set.addAll(Arrays.asList(access));
        return set;
    }

    /** Formats rights for messages: {@code (LOCAL_WRITE, REMOTE_WRITE)} or {@code (local read)}. */
    public static String describe(Set<Access> access) {
        return access.isEmpty()
                ? "(local read)"
                : access.stream().map(Access::name).collect(Collectors.joining(", ", "(", ")"));
    }
}
