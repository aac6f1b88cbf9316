package org.jrdma.verbs.cm;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.cm.ChannelEnd.Cause;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Determines whether and how a channel has ended. The first end that is noticed is kept, because
 * the others follow from it.
 */
final class ChannelEnding {

    private final String channel;
    private final ProtectionDomain domain;
    private final Connection<?> connection;
    private final CompletionQueue completions;
    private final AtomicReference<@Nullable ChannelEnd> known = new AtomicReference<>();

    ChannelEnding(
            String channel,
            ProtectionDomain domain,
            Connection<?> connection,
            CompletionQueue completions) {
        this.channel = channel;
        this.domain = domain;
        this.connection = connection;
        this.completions = completions;
    }

    /** Whether an end was noticed. */
    boolean isKnown() {
        return known.get() != null;
    }

    /** The end; empty if the channel can be used. */
    Optional<ChannelEnd> end() {
        var end = known.get();
        return end == null && !isOpen() ? Optional.of(endOfConnection()) : Optional.ofNullable(end);
    }

    /** Notes that this side closes the channel. */
    void closeHere() {
        known.compareAndSet(null, new ChannelEnd(Cause.CLOSED_HERE, "this side has closed it"));
    }

    /** Notes that a request has failed. */
    void fail(CompletionStatus status) {
        if (!isKnown()) {
            known.compareAndSet(
                    null,
                    status == CompletionStatus.FLUSHED
                            ? connection.end().orElse(Connection.DISCONNECTED_BY_PEER)
                            : new ChannelEnd(Cause.LOST, status + ", " + status.meaning()));
        }
    }

    /** Notes that a request could not be posted, and returns the exception to throw. */
    ChannelClosedException failed(VerbsException cause) {
        return ended(
                connection.end().orElseGet(() -> new ChannelEnd(Cause.LOST, cause.getMessage())),
                cause);
    }

    /**
     * Notes an end, and returns the exception to throw.
     *
     * @throws IllegalStateException if the channel has ended because the protection domain or the
     *     device is closed
     */
    ChannelClosedException ended(ChannelEnd end, @Nullable Exception cause) {
        var first = known.compareAndExchange(null, end);
        var kept = first == null ? end : first;
        if (kept.cause() == Cause.CLOSED_HERE) {
            throwIfOwnerIsClosed(cause); // an iWARP device reports the end before it is closed
        }
        return new ChannelClosedException(connection, kept, cause);
    }

    private void throwIfOwnerIsClosed(@Nullable Exception cause) {
        closedOwner()
                .ifPresent(owner -> {
                    throw new IllegalStateException(
                            "%s is closed: %s is".formatted(channel, owner), cause);
                });
    }

    /**
     * Checks that the channel can be used.
     *
     * @throws IllegalStateException if the protection domain or the device is closed
     */
    void check() throws ChannelClosedException {
        var end = known.get();
        if (end != null) {
            throw ended(end, null);
        }
        if (!isOpen()) {
            throw closed(null);
        }
    }

    /**
     * Returns the exception to throw for a call on an object of the channel that failed because the
     * object is closed.
     *
     * @throws IllegalStateException if the protection domain or the device is closed, or if the
     *     failure has another reason
     */
    ChannelClosedException explained(IllegalStateException e) {
        var end = known.get();
        if (end != null) {
            return ended(end, e);
        }
        if (isOpen()) {
            throw e;
        }
        return closed(e);
    }

    private ChannelClosedException closed(@Nullable IllegalStateException cause) {
        throwIfOwnerIsClosed(cause);
        return ended(endOfConnection(), cause);
    }

    private ChannelEnd endOfConnection() {
        return connection
                .end()
                .orElseGet(() ->
                        new ChannelEnd(
                                Cause.CLOSED_HERE,
                                "%s is closed"
                                        .formatted(
                                                closedOwner()
                                                        .map(Object::toString)
                                                        .orElse(channel))));
    }

    /** The protection domain or the device, if it is closed. */
    private Optional<NativeObject> closedOwner() {
        NativeObject owner = domain.device().isOpen() ? domain : domain.device();
        return owner.isOpen() ? Optional.empty() : Optional.of(owner);
    }

    private boolean isOpen() {
        return connection.queuePair().isOpen() && completions.isOpen();
    }
}
