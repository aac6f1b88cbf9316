package org.jrdma.verbs.cm;

/**
 * The end of an {@link RdmaChannel}.
 *
 * @param cause the kind of end, for programs
 * @param reason the end in words, for messages
 */
public record ChannelEnd(Cause cause, String reason) {

    /** The kind of end. */
    public enum Cause {
        /**
         * The peer closed the channel or disconnected. On a kernel's device also: the peer's
         * process ended, because the peer's kernel disconnects for it.
         */
        CLOSED_BY_PEER,
        /**
         * The connection failed: the peer does not acknowledge what was sent, the device was
         * removed, or the device reported an error. On the software fabric also: the peer's process
         * was killed, which is noticed when something is sent to it.
         */
        LOST,
        /**
         * This program closed the channel, its connection, its protection domain or its device, or
         * disconnected.
         */
        CLOSED_HERE,
        /** The peer sent something that is not a message of a channel. */
        PROTOCOL_ERROR
    }
}
