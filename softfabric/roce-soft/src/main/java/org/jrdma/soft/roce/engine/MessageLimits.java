package org.jrdma.soft.roce.engine;

/** How long a message may be. */
public final class MessageLimits {

    public static final long MAX_BYTES = 1L << 31;

    private MessageLimits() {}
}
