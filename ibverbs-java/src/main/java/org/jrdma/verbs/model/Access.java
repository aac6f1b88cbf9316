package org.jrdma.verbs.model;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/** An access right of a memory region or of a queue pair. In C: {@code enum ibv_access_flags}. */
public enum Access {
    /**
     * The adapter may write the memory on behalf of this process: receives, reads and atomic
     * operations store their data there. Local reads need no right.
     */
    LOCAL_WRITE,
    /** Peers may write. Requires {@link #LOCAL_WRITE}. */
    REMOTE_WRITE,
    /** Peers may read. */
    REMOTE_READ,
    /** Peers may run atomic operations. Requires {@link #LOCAL_WRITE}. */
    REMOTE_ATOMIC,
    /** Memory windows may be bound to the region. */
    MEMORY_WINDOW_BIND,
    /** Peers address the region by offsets from 0 instead of by its virtual addresses. */
    ZERO_BASED,
    /** The pages are not locked. The adapter faults them in when it accesses them. */
    ON_DEMAND,
    /** The memory is backed by huge pages and remains so, including in forked child processes. */
    HUGE_PAGES,
    /** Peers may flush their writes until they are globally visible. */
    FLUSH_GLOBAL,
    /** Peers may flush their writes until they are persistent. */
    FLUSH_PERSISTENT,
    /**
     * Writes may become visible in a different order than they were sent. Optional: adapters and
     * libraries that do not support it ignore it.
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
