package org.jrdma.soft.roce.memory;

/**
 * The rights of a memory region, a memory window or a queue pair, as bits. The values are those of
 * libibverbs.
 */
public final class Access {

    public static final int LOCAL_WRITE = 1;
    public static final int REMOTE_WRITE = 2;
    public static final int REMOTE_READ = 4;
    public static final int REMOTE_ATOMIC = 8;

    /** Memory windows may be bound to the region. */
    public static final int WINDOW_BIND = 16;

    /** On-demand paging, which all regions of this implementation use. */
    public static final int ON_DEMAND = 64;

    /** Addresses are offsets that begin at 0. */
    public static final int ZERO_BASED = 32;

    /** Peers may request that their writes become globally visible. */
    public static final int FLUSH_GLOBAL = 256;

    /** Peers may request that their writes become persistent. Not supported by any region. */
    public static final int FLUSH_PERSISTENT = 512;

    /** All rights of peers. */
    public static final int REMOTE = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | FLUSH_GLOBAL;

    /** The rights of peers that require {@link #LOCAL_WRITE}. */
    public static final int REMOTE_CHANGES = REMOTE_WRITE | REMOTE_ATOMIC;

    /**
     * A right of every region and of no window, because the key of a window is not valid for local
     * work. Not a bit of libibverbs.
     */
    public static final int LOCAL_READ = 1 << 31;

    private Access() {}
}
