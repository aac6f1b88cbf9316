package org.jrdma.soft.roce.memory;

/**
 * The access rights of a memory region, a memory window or a queue pair, as bit flags. The values
 * are those of {@code enum ibv_access_flags}, except {@link #LOCAL_READ}.
 */
public final class Access {

    public static final int LOCAL_WRITE = 1;
    public static final int REMOTE_WRITE = 2;
    public static final int REMOTE_READ = 4;
    public static final int REMOTE_ATOMIC = 8;

    /** The right to bind memory windows to the region. */
    public static final int WINDOW_BIND = 16;

    /**
     * On-demand paging. It has no effect, because no region of this implementation pins its pages.
     */
    public static final int ON_DEMAND = 64;

    /**
     * Addresses within the region or window are offsets from its first byte, which has the address
     * 0.
     */
    public static final int ZERO_BASED = 32;

    /**
     * The right of peers to request that their writes become visible to all observers of the memory
     * (FLUSH with global visibility).
     */
    public static final int FLUSH_GLOBAL = 256;

    /**
     * The right of peers to request that their writes become persistent (FLUSH to persistent
     * memory). No region supports this right.
     */
    public static final int FLUSH_PERSISTENT = 512;

    /** All rights of peers that this implementation supports. */
    public static final int REMOTE = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | FLUSH_GLOBAL;

    /** The rights of peers to change memory. They require {@link #LOCAL_WRITE}. */
    public static final int REMOTE_CHANGES = REMOTE_WRITE | REMOTE_ATOMIC;

    /**
     * The right to read memory for local work requests. Every region has this right. A memory
     * window does not have it, because the key of a window is valid only for peers. This bit is
     * internal and not part of libibverbs.
     */
    public static final int LOCAL_READ = 1 << 31;

    private Access() {}
}
