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

/** A peer that wants to connect, until it is accepted, refused or closed. */
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

    /** What the peer's program sent along, with its padding. */
    public PrivateData privateData() {
        return request.privateData();
    }

    /** What the peer says of its queue pair, and wants of this side's. */
    public ConnectionParameters parameters() {
        return request.parameters();
    }

    /** The device that it came through, for {@link org.jrdma.verbs.Verbs#open}. */
    public String deviceName() {
        return request.identifier().deviceName().orElseThrow();
    }

    /**
     * Accepts, and waits until the peer has confirmed. On iWARP that is no confirmation, and the
     * peer must be the first who sends.
     *
     * @param domain of the device that it came through
     * @throws CmException if the peer has given up
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this is closed, before or meanwhile, or the domain
     * @throws IllegalArgumentException if the options say from where, or with which type of service
     */
    public <Q extends QueuePair> Connection<Q> accept(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout)
            throws FabricException, InterruptedIOException {
        return accept(domain, options, Deadline.after(timeout));
    }

    /**
     * The same, without waiting. A future that is cancelled ends it at once: the peer is refused,
     * and nothing is left behind.
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
            Reference.reachabilityFence(this); // it is not forgotten as long as this goes on
        }
    }

    /**
     * Refuses, with something for the peer's program: at most 148 bytes, 248 on iWARP.
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

    /** Refuses, if it was not accepted. */
    @Override
    public void close() {
        ownership.close();
    }

    @Override
    public String toString() {
        return "request from " + peerAddress;
    }
}
