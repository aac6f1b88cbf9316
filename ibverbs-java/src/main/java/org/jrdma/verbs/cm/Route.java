package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.cm.model.PathRecord;

/**
 * A resolved route to a peer. The route determines the local device, which the program must open
 * before it connects.
 *
 * <p>A route can be used for one connection, which takes ownership of the route. A failed attempt
 * to connect closes the route.
 */
public final class Route implements AutoCloseable {

    private final Identifier identifier;
    private final String deviceName;
    private final InetSocketAddress peerAddress;
    private final IdentifierOwnership ownership;

    Route(Identifier identifier) {
        this.identifier = identifier;
        this.deviceName = identifier.deviceName().orElseThrow();
        this.peerAddress = identifier.peerAddress().orElseThrow();
        this.ownership = new IdentifierOwnership(identifier, this, toString());
    }

    /** Returns true if the route uses an iWARP device. */
    boolean isIwarp() {
        return identifier.isIwarp();
    }

    /** The name of the local device. {@link org.jrdma.verbs.Verbs#open} opens the device. */
    public String deviceName() {
        return deviceName;
    }

    /** The number of the local device port, starting at 1. */
    public int devicePort() {
        return identifier.devicePort().orElseThrow();
    }

    /**
     * The local address of the route. The peer sees it as the address from which this side
     * connects.
     */
    public InetSocketAddress localAddress() {
        return identifier.localAddress().orElseThrow();
    }

    /** The peer's address. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** The paths through the fabric; empty on iWARP. */
    public List<PathRecord> paths() {
        return identifier.paths();
    }

    /**
     * Connects to the peer, and waits until the peer has accepted the connection.
     *
     * @param domain a protection domain of the route's device
     * @throws CmException if the peer rejects the connection, or does not answer
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this route or the protection domain is closed before or
     *     during the call
     * @throws IllegalArgumentException if the options specify a local address or a type of service
     */
    public <Q extends QueuePair> Connection<Q> connect(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout)
            throws FabricException, InterruptedIOException {
        options.rejectPathOptions(this);
        return connect(domain, options, Deadline.after(timeout));
    }

    /**
     * Connects to the peer without blocking; see {@link #connect(ProtectionDomain,
     * ConnectionOptions, Duration)}. Canceling the future aborts the attempt and closes all objects
     * that it created.
     */
    public <Q extends QueuePair> CompletableFuture<Connection<Q>> connectAsync(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout) {
        return CancellableCall.start(
                "jrdma-connect-async", () -> connect(domain, options, timeout), Connection::close);
    }

    <Q extends QueuePair> Connection<Q> connect(
            ProtectionDomain domain, ConnectionOptions<Q> options, Deadline deadline)
            throws FabricException, InterruptedIOException {
        try {
            return new Handshake<>(ownership, domain, options).connect(deadline);
        } finally {
            Reference.reachabilityFence(this); // Prevents a leak report during the call.
        }
    }

    /**
     * Closes the route. Aborts an attempt to connect that is in progress, even on another thread.
     * Does not close an established connection.
     */
    @Override
    public void close() {
        ownership.close();
    }

    @Override
    public String toString() {
        return "route to %s through %s".formatted(AddressText.of(peerAddress), deviceName);
    }
}
