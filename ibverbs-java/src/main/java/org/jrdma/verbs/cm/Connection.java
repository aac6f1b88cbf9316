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
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Leaks;
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
 * A queue pair that is connected to a peer's queue pair. Either side can disconnect.
 *
 * <p>The connection owns its queue pair. Closing the protection domain of the queue pair also
 * closes the connection. Safe for use by multiple threads.
 *
 * @param <Q> the type of the queue pair
 */
public final class Connection<Q extends QueuePair> implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    static final TerminationCause DISCONNECTED_BY_PEER =
            new TerminationCause(
                    TerminationCause.Cause.CLOSED_BY_PEER, "the peer has disconnected");

    private static final TerminationCause DISCONNECTED_HERE =
            new TerminationCause(TerminationCause.Cause.CLOSED_HERE, "this side has disconnected");

    private final Identifier identifier;
    private final Q queuePair;
    private final ConnectionParameters parameters;
    private final PrivateData privateData;
    private final boolean isIwarp;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress peerAddress;
    private final EndHandler endHandler;

    Connection(
            Identifier identifier,
            Q queuePair,
            ConnectionParameters parameters,
            PrivateData privateData,
            boolean isIwarp) {
        this.identifier = identifier;
        this.queuePair = queuePair;
        this.parameters = parameters;
        this.privateData = privateData;
        this.isIwarp = isIwarp;
        this.localAddress = identifier.localAddress().orElseThrow();
        this.peerAddress = identifier.peerAddress().orElseThrow();
        this.endHandler = new EndHandler(identifier, queuePair, toString());
        identifier.events().handle(endHandler::handle);
        queuePair.onClose(endHandler::queuePairClosed);
        identifier.ownLifetime().onClose(endHandler::identifierClosed);
        Leaks.watch(this, toString(), identifier.ownLifetime());
    }

    /**
     * Handles the end of a connection. The {@link Identifier} refers to this object. Therefore this
     * object must not refer to the connection: otherwise a connection that was not closed would
     * stay reachable and would not be reported as a leak.
     */
    private record EndHandler(
            Identifier identifier,
            QueuePair queuePair,
            String name,
            CompletableFuture<Void> disconnected,
            AtomicReference<@Nullable TerminationCause> termination) {

        EndHandler(Identifier identifier, QueuePair queuePair, String name) {
            this(identifier, queuePair, name, new CompletableFuture<>(), new AtomicReference<>());
        }

        /** Handles an event. Runs on the thread that receives the events of all connections. */
        void handle(ConnectionEvent event) {
            switch (event) {
                case ConnectionEvent.Disconnected _ -> terminate(DISCONNECTED_BY_PEER);
                case ConnectionEvent.DeviceRemoved _ ->
                        terminate(lost("the device is being removed"));
                // The peer has timed out because it has not received the confirmation of the
                // connection.
                case ConnectionEvent.Failure failure -> terminate(lost(failure.reason()));
                default -> {}
            }
        }

        private static TerminationCause lost(String reason) {
            return new TerminationCause(TerminationCause.Cause.LOST, reason);
        }

        private void terminate(TerminationCause reason) {
            termination.compareAndSet(null, reason);
            BlockingCalls.start(this::confirmDisconnect);
        }

        /**
         * Records that this side ends the connection. Must be called before the queue pair is
         * flushed.
         */
        void terminateLocally() {
            termination.compareAndSet(null, DISCONNECTED_HERE);
        }

        /**
         * Called when the close of the {@link Identifier} begins. No further events are received.
         */
        void identifierClosed() {
            terminateLocally();
            if (disconnected.completeExceptionally(
                    new IllegalStateException(name + " is closed"))) {
                flush();
            }
        }

        /**
         * Called when the close of the queue pair begins, by the program or because its protection
         * domain is closed.
         */
        void queuePairClosed() {
            terminateLocally();
            if (disconnected.completeExceptionally(
                    new IllegalStateException(
                            "%s is closed because %s or its protection domain was closed"
                                    .formatted(name, queuePair)))) {
                BlockingCalls.start(() -> {
                    confirmDisconnect();
                    identifier.close();
                });
            }
        }

        /**
         * Confirms a disconnect, because the peer would otherwise retransmit its disconnect message
         * for more than a minute. Then flushes the queue pair and completes {@code disconnected}.
         */
        private void confirmDisconnect() {
            disconnect(identifier, name);
            flush();
            disconnected.complete(null);
        }

        /** Moves the queue pair to the error state, which flushes all requests in flight. */
        void flush() {
            try {
                if (queuePair.state() != QueuePairState.ERROR) {
                    queuePair.modify(QueuePairChange.to(QueuePairState.ERROR));
                }
            } catch (VerbsException | IllegalStateException e) {
                // The queue pair is closed, or already in the error state.
                LOG.debug("{}: {}", name, e.getMessage());
            }
        }
    }

    /**
     * Sends or confirms a disconnect. If the connection has already ended, {@code rdma_disconnect}
     * fails; the failure is only logged.
     */
    private static void disconnect(Identifier identifier, Object name) {
        try {
            identifier.disconnect();
        } catch (VerbsException | IllegalStateException e) {
            LOG.debug("{}: {}", name, e.getMessage());
        }
    }

    /** The local queue pair of this connection. */
    public Q queuePair() {
        return queuePair;
    }

    /** The local address. */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** The peer's address. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** The queue pair parameters that the peer sent during the handshake. */
    public ConnectionParameters peerParameters() {
        return parameters;
    }

    /** The private data that the peer's program sent, including padding. */
    public PrivateData privateData() {
        return privateData;
    }

    /**
     * The {@link Identifier} ({@code rdma_cm_id}) of this connection, which the connection owns.
     * Closing or migrating the identifier ends the connection.
     */
    public Identifier identifier() {
        return identifier;
    }

    /** Returns true on iWARP, where the connecting side must send the first message. */
    boolean isIwarp() {
        return isIwarp;
    }

    /**
     * Disconnects, and waits until the peer has confirmed the disconnect. Requests in flight
     * complete with the status {@link org.jrdma.verbs.model.CompletionStatus#FLUSHED}. A program
     * that needs their results must therefore wait for their completion before it disconnects. In
     * C: {@code rdma_disconnect}.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if the peer does not confirm within the timeout
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this connection or its protection domain is closed before or
     *     during the wait
     */
    public void disconnect(Duration timeout) throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        if (!endHandler.disconnected.isDone()) {
            endHandler.terminateLocally();
            if (!isIwarp) {
                endHandler.flush(); // On iWARP, the driver flushes the queue pair.
            }
            disconnect(identifier, this);
        }
        await(deadline);
    }

    /**
     * Waits until either side has ended the connection and all requests in flight have been
     * flushed.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this connection or its protection domain is closed before or
     *     during the wait
     */
    public void awaitDisconnected(Duration timeout) throws FabricException, InterruptedIOException {
        await(Deadline.after(timeout));
    }

    private void await(Deadline deadline) throws FabricException, InterruptedIOException {
        try {
            endHandler.disconnected.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw deadline.missed("%s was not disconnected".formatted(this));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for " + this);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause().getMessage(), e);
        }
    }

    /**
     * Returns a future that completes when either side has disconnected. The future fails with
     * IllegalStateException if this connection or its protection domain is closed first.
     */
    public CompletableFuture<Void> disconnected() {
        return endHandler.disconnected.copy();
    }

    /** Returns why the connection has ended; empty if it has not ended. */
    Optional<TerminationCause> termination() {
        return Optional.ofNullable(endHandler.termination.get());
    }

    /**
     * Disconnects without waiting for the confirmation of the peer, and closes the queue pair and
     * the {@link Identifier}.
     */
    @Override
    public void close() {
        endHandler.terminateLocally();
        if (identifier.isOpen() && !endHandler.disconnected.isDone()) {
            disconnect(identifier, this);
        }
        endHandler.disconnected.completeExceptionally(
                new IllegalStateException(this + " is closed"));
        queuePair.close();
        identifier.close();
    }

    @Override
    public String toString() {
        return "connection from %s to %s"
                .formatted(AddressText.of(localAddress), AddressText.of(peerAddress));
    }
}
