package org.jrdma.verbs.model;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What may be done to a memory region, or through a queue pair. In C: {@code enum
 * ibv_access_flags}.
 */
public enum Access {
    /**
     * The adapter may write on behalf of this side: receives, reads and atomics land here. Anyone
     * may read without a flag.
     */
    LOCAL_WRITE,
    /** A peer may write. Needs {@link #LOCAL_WRITE} too. */
    REMOTE_WRITE,
    /** A peer may read. */
    REMOTE_READ,
    /** A peer may run atomic operations. Needs {@link #LOCAL_WRITE} too. */
    REMOTE_ATOMIC,
    /** A memory window may be bound to the region. */
    MEMORY_WINDOW_BIND,
    /** Peers count addresses from 0 instead of from the region's own address. */
    ZERO_BASED,
    /** Pages are not locked but brought in when the adapter needs them. */
    ON_DEMAND,
    /** The memory is in huge pages and stays so, also in a child process. */
    HUGE_PAGES,
    /** A peer may ask that what it wrote be visible to all. */
    FLUSH_GLOBAL,
    /** A peer may ask that what it wrote be persistent. */
    FLUSH_PERSISTENT,
    /**
     * Writes may become visible in another order than they were sent in. Optional: adapters and
     * libraries that cannot do it ignore it.
     */
    RELAXED_ORDERING;

    /** Returns the given rights as a set. */
    public static Set<Access> setOf(Access... access) {
        var set = EnumSet.noneOf(Access.class);
        set.addAll(Arrays.asList(access));
        return set;
    }

    /**
     * Describes rights as messages do: {@code (LOCAL_WRITE, REMOTE_WRITE)} or {@code (local read)}.
     */
    public static String describe(Set<Access> access) {
        return access.isEmpty()
                ? "(local read)"
                : access.stream().map(Access::name).collect(Collectors.joining(", ", "(", ")"));
    }
}
