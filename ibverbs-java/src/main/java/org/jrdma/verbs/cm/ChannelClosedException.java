package org.jrdma.verbs.cm;

import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The use of an {@link RdmaChannel} that has ended. {@link #end()} distinguishes a peer that closed
 * the channel, a connection that was lost, and a close by this program.
 *
 * <p>A close by this program is a checked exception too, as in {@code java.nio.channels}: any
 * thread may close a channel, at a time that its user does not control.
 */
public final class ChannelClosedException extends VerbsException {

    private static final long serialVersionUID = 1L;

    private final transient ChannelEnd end;

    ChannelClosedException(Object connection, ChannelEnd end, @Nullable Throwable cause) {
        super("ibv_poll_cq", "The channel has ended, %s: %s".formatted(connection, end.reason()));
        this.end = end;
        if (cause != null) {
            addSuppressed(cause); // VerbsException has fixed its cause
        }
    }

    /** The end of the channel. */
    public ChannelEnd end() {
        return end;
    }
}
