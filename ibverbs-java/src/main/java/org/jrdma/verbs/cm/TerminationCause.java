package org.jrdma.verbs.cm;

import java.io.Serializable;

/**
 * The cause for which an {@link RdmaChannel} has ended.
 *
 * @param cause the cause as a constant, for decisions of the program
 * @param reason a description of the cause, for messages
 */
public record TerminationCause(Cause cause, String reason) implements Serializable {

    /** A cause for which a channel ends. */
    public enum Cause {
        /**
         * The peer closed the channel or disconnected. If the peer uses a kernel device, the end of
         * the peer's process has the same effect, because the kernel then disconnects.
         */
        CLOSED_BY_PEER,
        /**
         * The connection failed: the peer does not acknowledge requests, the device was removed, or
         * the device reported an error. If the peer uses the software fabric, this is also the
         * cause after the peer's process was killed, which is detected when this side sends or has
         * a {@linkplain RdmaChannelOptions#keepAlive keep-alive}.
         */
        LOST,
        /**
         * This program disconnected, or closed the channel, its connection, its protection domain
         * or its device.
         */
        CLOSED_HERE,
        /** The peer violated the protocol of channels. */
        PROTOCOL_ERROR
    }
}
