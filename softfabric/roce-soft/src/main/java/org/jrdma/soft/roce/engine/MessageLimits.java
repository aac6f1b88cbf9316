package org.jrdma.soft.roce.engine;

/** The limit for RDMA messages of all transports. */
public final class MessageLimits {

    /** The maximum length of a message in bytes: 2 GiB. */
    public static final long MAX_BYTES = 1L << 31;

    private MessageLimits() {}
}
