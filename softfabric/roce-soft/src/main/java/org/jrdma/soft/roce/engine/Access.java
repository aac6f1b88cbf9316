package org.jrdma.soft.roce.engine;

/** Rights on a memory region or a queue pair, as bits. The values are those of libibverbs. */
public final class Access {

    /** Reading locally needs no right. */
    public static final int NONE = 0;

    public static final int LOCAL_WRITE = 1;
    public static final int REMOTE_WRITE = 2;
    public static final int REMOTE_READ = 4;
    public static final int REMOTE_ATOMIC = 8;

    private Access() {}
}
