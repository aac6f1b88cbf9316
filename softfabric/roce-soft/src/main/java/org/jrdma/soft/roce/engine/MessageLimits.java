package org.jrdma.soft.roce.engine;

/** Limits of messages. */
public final class MessageLimits {

    public static final long MAX_BYTES = 1L << 31;

    private MessageLimits() {}
}
