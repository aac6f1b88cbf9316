package org.jrdma.verbs.cm;

import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a program uses an {@link RdmaChannel} that has ended. {@link #termination()} returns
 * the cause.
 *
 * <p>This checked exception also reports that this program has closed the channel, because a thread
 * other than the channel's thread may do so. The package {@code java.nio.channels} reports this in
 * the same way.
 */
public final class ChannelClosedException extends VerbsException {

    private static final long serialVersionUID = 1L;

    private final TerminationCause termination;

    ChannelClosedException(
            Object connection, TerminationCause termination, @Nullable Throwable cause) {
        super(
                "ibv_poll_cq",
                "The channel on %s has ended: %s".formatted(connection, termination.reason()));
        this.termination = termination;
        if (cause != null) {
            addSuppressed(cause); // The constructor of VerbsException has already set the cause.
        }
    }

    /** Returns why the channel has ended. */
    public TerminationCause termination() {
        return termination;
    }
}
