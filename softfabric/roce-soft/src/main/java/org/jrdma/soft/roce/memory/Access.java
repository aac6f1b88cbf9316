package org.jrdma.soft.roce.memory;

/** Rights on a memory region or a queue pair, as bits. The values are those of libibverbs. */
public final class Access {

    public static final int LOCAL_WRITE = 1;
    public static final int REMOTE_WRITE = 2;
    public static final int REMOTE_READ = 4;
    public static final int REMOTE_ATOMIC = 8;

    /** A window may be bound to the region. */
    public static final int WINDOW_BIND = 16;

    /** Pages come when they are needed, as all do here. */
    public static final int ON_DEMAND = 64;

    /** Addresses count from 0. */
    public static final int ZERO_BASED = 32;

    /** A peer may ask that what it wrote be visible to all. */
    public static final int FLUSH_GLOBAL = 256;

    /** The same for persistent memory, which is not registered here. */
    public static final int FLUSH_PERSISTENT = 512;

    /** What a peer may be allowed. */
    public static final int REMOTE = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC | FLUSH_GLOBAL;

    /** What only those with {@link #LOCAL_WRITE} can allow a peer. */
    public static final int REMOTE_CHANGES = REMOTE_WRITE | REMOTE_ATOMIC;

    /** Of every region, and of no window: it has no key for this side's work. Not libibverbs'. */
    public static final int LOCAL_READ = 1 << 31;

    private Access() {}
}
