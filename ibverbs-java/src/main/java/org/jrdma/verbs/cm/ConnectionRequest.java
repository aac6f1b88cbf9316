package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.VerbsException;

/** A peer's request for a connection, until it is accepted, rejected or closed. */
public final class ConnectionRequest implements AutoCloseable {

    private final ConnectionEvent.ConnectRequest request;
    private final InetSocketAddress peerAddress;
    private final IdentifierOwnership ownership;

    @SuppressWarnings("this-escape") // all is set
    ConnectionRequest(ConnectionEvent.ConnectRequest request) {
        this.request = request;
        this.peerAddress = request.identifier().peerAddress().orElseThrow();
        this.ownership = new IdentifierOwnership(request.identifier(), this, toString());
    }

    /** The peer's address. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** The private data of the peer's program, with padding. */
    public PrivateData privateData() {
        return request.privateData();
    }

    /** The parameters of the peer's queue pair, and those that it asks for. */
    public ConnectionParameters parameters() {
        return request.parameters();
    }

    /** The name of the local device of the request, for {@link org.jrdma.verbs.Verbs#open}. */
    public String deviceName() {
        return request.identifier().deviceName().orElseThrow();
    }

    /**
     * Accepts, and waits until the peer has confirmed. On iWARP the peer does not confirm, and must
     * be the first to send.
     *
     * @param domain a protection domain of the request's device
     * @throws CmException if the peer has given up
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this object or the domain is or becomes closed
     * @throws IllegalArgumentException if the options have a local address or a type of service
     */
    public <Q extends QueuePair> Connection<Q> accept(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout)
            throws FabricException, InterruptedIOException {
        return accept(domain, options, Deadline.after(timeout));
    }

    /**
     * Accepts as {@link #accept(ProtectionDomain, ConnectionOptions, Duration)} does, without
     * waiting. Cancelling the future rejects the peer and leaves nothing open.
     */
    public <Q extends QueuePair> CompletableFuture<Connection<Q>> acceptAsync(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout) {
        return Cancellable.start(
                "jrdma-accept-async", () -> accept(domain, options, timeout), Connection::close);
    }

    <Q extends QueuePair> Connection<Q> accept(
            ProtectionDomain domain, ConnectionOptions<Q> options, Deadline deadline)
            throws FabricException, InterruptedIOException {
        try {
            return new Handshake<>(ownership, domain, options).accept(request, deadline);
        } finally {
            Reference.reachabilityFence(this); // is not reported as a leak meanwhile
        }
    }

    /**
     * Rejects, with private data for the peer's program: at most 148 bytes, 248 on iWARP.
     *
     * @throws IllegalArgumentException if it is longer
     */
    public void reject(byte... privateData) throws VerbsException {
        try {
            request.identifier().reject(privateData);
        } catch (IllegalStateException e) {
            throw ownership.explained(e);
        } finally {
            close();
        }
    }

    /** Rejects the request, if it was not accepted. */
    @Override
    public void close() {
        ownership.close();
    }

    @Override
    public String toString() {
        return "request from " + peerAddress;
    }
}
