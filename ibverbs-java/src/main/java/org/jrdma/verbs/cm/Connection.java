package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue pair that is connected to a peer's, until one of both disconnects.
 *
 * <p>Owns the queue pair, which is closed with the protection domain too. Safe for use by several
 * threads.
 *
 * @param <Q> the kind of queue pair
 */
public final class Connection<Q extends QueuePair> implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    static final ChannelEnd DISCONNECTED_BY_PEER =
            new ChannelEnd(ChannelEnd.Cause.CLOSED_BY_PEER, "the peer has disconnected");

    private static final ChannelEnd DISCONNECTED_HERE =
            new ChannelEnd(ChannelEnd.Cause.CLOSED_HERE, "this side has disconnected");

    private final Identifier identifier;
    private final Q queuePair;
    private final ConnectionParameters parameters;
    private final PrivateData privateData;
    private final boolean isWarp;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress peerAddress;
    private final Ending ending;

    @SuppressWarnings("this-escape") // all is set
    Connection(
            Identifier identifier,
            Q queuePair,
            ConnectionParameters parameters,
            PrivateData privateData,
            boolean isWarp) {
        this.identifier = identifier;
        this.queuePair = queuePair;
        this.parameters = parameters;
        this.privateData = privateData;
        this.isWarp = isWarp;
        this.localAddress = identifier.localAddress().orElseThrow();
        this.peerAddress = identifier.peerAddress().orElseThrow();
        this.ending = new Ending(identifier, queuePair, toString());
        identifier.events().handle(ending::react);
        queuePair.onClose(ending::queuePairClosed);
        identifier.ownLifetime().onClose(ending::closed);
        Leaks.watch(this, toString(), identifier.ownLifetime());
    }

    /**
     * Handles the end of a connection. The identifier refers to this object, which therefore must
     * not refer to the connection: a leaked connection is reported when it is unreachable.
     */
    private record Ending(
            Identifier identifier,
            QueuePair queuePair,
            String name,
            CompletableFuture<Void> disconnected,
            AtomicReference<@Nullable ChannelEnd> end) {

        Ending(Identifier identifier, QueuePair queuePair, String name) {
            this(
                    identifier,
                    queuePair,
                    name,
                    new CompletableFuture<>(),
                    new AtomicReference<>());
        }

        /** Runs on the thread that takes the events of all connections. */
        void react(ConnectionEvent event) {
            switch (event) {
                case ConnectionEvent.Disconnected _ -> endAndAnswer(DISCONNECTED_BY_PEER);
                case ConnectionEvent.DeviceRemoved _ ->
                        endAndAnswer(lost("the device is being removed"));
                // The peer did not receive the confirmation of the connection, and has given up.
                case ConnectionEvent.Failure failure -> endAndAnswer(lost(failure.reason()));
                default -> {}
            }
        }

        private static ChannelEnd lost(String reason) {
            return new ChannelEnd(ChannelEnd.Cause.LOST, reason);
        }

        private void endAndAnswer(ChannelEnd reason) {
            end.compareAndSet(null, reason);
            PlatformCalls.start(this::answer);
        }

        /** Notes that this side ends the connection, before the queue pair is flushed. */
        void endHere() {
            end.compareAndSet(null, DISCONNECTED_HERE);
        }

        /** Runs when the identifier is being closed: no more events arrive. */
        void closed() {
            endHere();
            if (disconnected.completeExceptionally(
                    new IllegalStateException(name + " is closed"))) {
                flush();
            }
        }

        /** Runs when the queue pair is closed other than by the connection: with its domain. */
        void queuePairClosed() {
            endHere();
            if (disconnected.completeExceptionally(
                    new IllegalStateException(
                            "%s is closed: %s is, by itself or with its protection domain"
                                    .formatted(name, queuePair)))) {
                PlatformCalls.start(() -> {
                    answer();
                    identifier.close();
                });
            }
        }

        /** Without an answer, the peer would repeat its word for more than a minute. */
        private void answer() {
            try {
                identifier.disconnect();
            } catch (VerbsException | IllegalStateException e) {
                LOG.debug("{}: {}", name, e.getMessage()); // it was this side that disconnected
            }
            flush();
            disconnected.complete(null);
        }

        /** Ends all that is under way. */
        void flush() {
            try {
                if (queuePair.state() != QueuePairState.ERROR) {
                    queuePair.modify(QueuePairChange.to(QueuePairState.ERROR));
                }
            } catch (VerbsException | IllegalStateException e) {
                LOG.debug("{}: {}", name, e.getMessage()); // closed, or there by itself
            }
        }
    }

    /** To send and receive with. */
    public Q queuePair() {
        return queuePair;
    }

    /** This side's address. */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** The peer's address. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** The peer's queue pair, as it said. */
    public ConnectionParameters peerParameters() {
        return parameters;
    }

    /** What the peer's program sent along, with its padding. */
    public PrivateData privateData() {
        return privateData;
    }

    /**
     * The way down: its identifier, which the connection owns. Closing it, or having it migrate,
     * ends the connection.
     */
    public Identifier identifier() {
        return identifier;
    }

    /** Whether the side that has accepted must not be the first that sends. */
    boolean isWarp() {
        return isWarp;
    }

    /**
     * Ends the connection, and waits until the peer has answered. What is under way ends as {@link
     * org.jrdma.verbs.model.CompletionStatus#FLUSHED}: await it first. In C: {@code rdma_disconnect}.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if the peer does not answer in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this is closed, before or meanwhile, or its protection
     *     domain
     */
    public void disconnect(Duration timeout) throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        if (!ending.disconnected.isDone()) {
            ending.endHere();
            if (!isWarp) {
                ending.flush(); // iWARP's driver does so itself, once the peer knows
            }
            try {
                identifier.disconnect();
            } catch (VerbsException | IllegalStateException e) {
                LOG.debug("{}: {}", this, e.getMessage()); // the peer was faster, or it is closed
            }
        }
        await(deadline);
    }

    /**
     * Waits until the connection has ended, by whichever side. All that was under way is flushed
     * then.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if it does not in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this is closed, before or meanwhile, or its protection
     *     domain
     */
    public void awaitDisconnected(Duration timeout) throws FabricException, InterruptedIOException {
        await(Deadline.after(timeout));
    }

    private void await(Deadline deadline) throws FabricException, InterruptedIOException {
        try {
            ending.disconnected.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw deadline.missed("%s was not ended".formatted(this));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for " + this);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause().getMessage(), e);
        }
    }

    /**
     * Completed when the connection has ended by a disconnect of whichever side; with
     * IllegalStateException, when this is closed first, or its protection domain.
     */
    public CompletableFuture<Void> disconnected() {
        return ending.disconnected.copy();
    }

    /** The end of this connection, or empty while neither side has ended it. */
    Optional<ChannelEnd> end() {
        return Optional.ofNullable(ending.end.get());
    }

    /** Ends the connection without waiting for the peer's answer, and closes the queue pair. */
    @Override
    public void close() {
        ending.endHere();
        if (identifier.isOpen() && !ending.disconnected.isDone()) {
            try {
                identifier.disconnect();
            } catch (VerbsException | IllegalStateException e) {
                LOG.debug("{}: {}", this, e.getMessage()); // the peer was faster
            }
        }
        ending.disconnected.completeExceptionally(new IllegalStateException(this + " is closed"));
        queuePair.close();
        identifier.close();
    }

    @Override
    public String toString() {
        return "connection from %s to %s".formatted(localAddress, peerAddress);
    }
}
