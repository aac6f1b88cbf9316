package org.jrdma.verbs.cm;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.cm.TerminationCause.Cause;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The termination of an {@link RdmaChannel}. Only the first cause is recorded, because later
 * failures are consequences of it. Without a recorded cause, the channel is open unless one of its
 * native objects is closed.
 */
final class ChannelTermination {

    private final String channel;
    private final ProtectionDomain domain;
    private final Connection<?> connection;
    private final CompletionQueue completions;
    private final AtomicReference<@Nullable TerminationCause> recorded = new AtomicReference<>();

    ChannelTermination(
            String channel,
            ProtectionDomain domain,
            Connection<?> connection,
            CompletionQueue completions) {
        this.channel = channel;
        this.domain = domain;
        this.connection = connection;
        this.completions = completions;
    }

    /** Returns true if a termination has been recorded. */
    boolean isTerminated() {
        return recorded.get() != null;
    }

    /** Returns the cause and a description of the termination; empty if the channel is open. */
    Optional<TerminationCause> cause() {
        var termination = recorded.get();
        return termination == null && !isOpen()
                ? Optional.of(terminationOfConnection())
                : Optional.ofNullable(termination);
    }

    /** Records that this side closes the channel. */
    void closeLocally() {
        recorded.compareAndSet(
                null, new TerminationCause(Cause.CLOSED_HERE, "this side closed the channel"));
    }

    /** Records that a request has completed with a failure status. */
    void requestFailed(CompletionStatus status) {
        if (!isTerminated()) {
            recorded.compareAndSet(
                    null,
                    status == CompletionStatus.FLUSHED
                            ? connection.termination().orElse(Connection.DISCONNECTED_BY_PEER)
                            : new TerminationCause(Cause.LOST, status + ", " + status.meaning()));
        }
    }

    /**
     * Records that the provider has rejected a request, and returns the exception for the caller to
     * throw.
     */
    ChannelClosedException postFailed(VerbsException cause) {
        return terminate(
                connection
                        .termination()
                        .orElseGet(() -> new TerminationCause(Cause.LOST, cause.getMessage())),
                cause);
    }

    /**
     * Records a termination unless an earlier one is recorded, and returns the exception for the
     * caller to throw.
     *
     * @throws IllegalStateException if the channel was terminated because the protection domain or
     *     the device is closed
     */
    ChannelClosedException terminate(TerminationCause termination, @Nullable Exception cause) {
        var earlier = recorded.compareAndExchange(null, termination);
        var first = earlier == null ? termination : earlier;
        if (first.cause() == Cause.CLOSED_HERE) {
            // On iWARP, closing an owner terminates the channel before isOpen() of the owner
            // returns false.
            throwIfOwnerIsClosed(cause);
        }
        return new ChannelClosedException(connection, first, cause);
    }

    private void throwIfOwnerIsClosed(@Nullable Exception cause) {
        closedOwner()
                .ifPresent(owner -> {
                    throw new IllegalStateException(
                            "%s is closed because %s was closed".formatted(channel, owner), cause);
                });
    }

    /**
     * Checks that the channel is open.
     *
     * @throws IllegalStateException if the protection domain or the device is closed
     */
    void check() throws ChannelClosedException {
        var termination = recorded.get();
        if (termination != null) {
            throw terminate(termination, null);
        }
        if (!isOpen()) {
            throw closed(null);
        }
    }

    /**
     * Converts an exception that was thrown because a native object of the channel is closed to an
     * exception with the cause of the channel's end.
     *
     * @throws IllegalStateException if the protection domain or the device is closed, or the
     *     exception is unrelated to the state of the channel
     */
    ChannelClosedException explained(IllegalStateException e) {
        var termination = recorded.get();
        if (termination != null) {
            return terminate(termination, e);
        }
        if (isOpen()) {
            throw e;
        }
        return closed(e);
    }

    private ChannelClosedException closed(@Nullable IllegalStateException cause) {
        throwIfOwnerIsClosed(cause);
        return terminate(terminationOfConnection(), cause);
    }

    private TerminationCause terminationOfConnection() {
        return connection
                .termination()
                .orElseGet(() -> {
                    var closed = closedOwner().map(Object::toString).orElse(channel);
                    return new TerminationCause(Cause.CLOSED_HERE, closed + " is closed");
                });
    }

    /** Returns the device if it is closed, or the protection domain if only that is closed. */
    private Optional<NativeObject> closedOwner() {
        NativeObject owner = domain.device().isOpen() ? domain : domain.device();
        return owner.isOpen() ? Optional.empty() : Optional.of(owner);
    }

    private boolean isOpen() {
        return connection.queuePair().isOpen() && completions.isOpen();
    }
}
