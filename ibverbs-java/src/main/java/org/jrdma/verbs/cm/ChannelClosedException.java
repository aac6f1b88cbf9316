package org.jrdma.verbs.cm;

import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when an {@link RdmaChannel} is used that has ended. {@link #termination()} returns the
 * cause.
 *
 * <p>A close by this program is also reported with this checked exception, as in {@code
 * java.nio.channels}, because a thread other than the user of the channel may close it.
 */
public final class ChannelClosedException extends VerbsException {

    private static final long serialVersionUID = 1L;

    private final transient ChannelTermination termination;

    ChannelClosedException(
            Object connection, ChannelTermination termination, @Nullable Throwable cause) {
        super(
                "ibv_poll_cq",
                "The channel on %s has ended: %s".formatted(connection, termination.reason()));
        this.termination = termination;
        if (cause != null) {
            addSuppressed(cause); // the constructor of VerbsException has already set the cause
        }
    }

    /** The cause for which the channel has ended. */
    public ChannelTermination termination() {
        return termination;
    }
}
