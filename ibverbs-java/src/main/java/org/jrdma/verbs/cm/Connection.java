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
 * A queue pair that is connected to a queue pair of a peer, until one of the two sides disconnects.
 *
 * <p>Owns the queue pair, which is also closed with its protection domain. Safe for use by multiple
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
            this(identifier, queuePair, name, new CompletableFuture<>(), new AtomicReference<>());
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

        /** Answers the disconnect, which the peer would otherwise retransmit for over a minute. */
        private void answer() {
            try {
                identifier.disconnect();
            } catch (VerbsException | IllegalStateException e) {
                LOG.debug("{}: {}", name, e.getMessage()); // this side has disconnected
            }
            flush();
            disconnected.complete(null);
        }

        /** Cancels all requests in flight. */
        void flush() {
            try {
                if (queuePair.state() != QueuePairState.ERROR) {
                    queuePair.modify(QueuePairChange.to(QueuePairState.ERROR));
                }
            } catch (VerbsException | IllegalStateException e) {
                LOG.debug("{}: {}", name, e.getMessage()); // closed, or in that state already
            }
        }
    }

    /** The queue pair of this side. */
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

    /** The parameters of the peer's queue pair. */
    public ConnectionParameters peerParameters() {
        return parameters;
    }

    /** The private data of the peer's program, with padding. */
    public PrivateData privateData() {
        return privateData;
    }

    /**
     * The underlying identifier, which the connection owns. Closing or migrating it ends the
     * connection.
     */
    public Identifier identifier() {
        return identifier;
    }

    /** Whether the side that has connected must be the first to send. */
    boolean isWarp() {
        return isWarp;
    }

    /**
     * Ends the connection, and waits until the peer has answered. Requests in flight complete as
     * {@link org.jrdma.verbs.model.CompletionStatus#FLUSHED}: await them first. In C: {@code
     * rdma_disconnect}.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if the peer does not answer in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this connection or its domain is or becomes closed
     */
    public void disconnect(Duration timeout) throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        if (!ending.disconnected.isDone()) {
            ending.endHere();
            if (!isWarp) {
                ending.flush(); // the driver does that on iWARP
            }
            try {
                identifier.disconnect();
            } catch (VerbsException | IllegalStateException e) {
                LOG.debug(
                        "{}: {}",
                        this,
                        e.getMessage()); // the peer has disconnected, or this is closed
            }
        }
        await(deadline);
    }

    /**
     * Waits until either side has ended the connection. Requests in flight were flushed then.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this connection or its domain is or becomes closed
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
     * A future that completes when either side has disconnected; with IllegalStateException if this
     * connection or its protection domain is closed first.
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
                LOG.debug("{}: {}", this, e.getMessage()); // the peer has disconnected
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
