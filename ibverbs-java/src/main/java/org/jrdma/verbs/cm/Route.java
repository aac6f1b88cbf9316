package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.cm.model.PathRecord;

/**
 * A route to a peer, which determines the local device, for programs that open the device when they
 * know it. A route serves one connection, which takes it over; a failed attempt closes it.
 */
public final class Route implements AutoCloseable {

    private final Identifier identifier;
    private final String deviceName;
    private final InetSocketAddress peerAddress;
    private final IdentifierOwnership ownership;

    @SuppressWarnings("this-escape") // all is set
    Route(Identifier identifier) {
        this.identifier = identifier;
        this.deviceName = identifier.deviceName().orElseThrow();
        this.peerAddress = identifier.peerAddress().orElseThrow();
        this.ownership = new IdentifierOwnership(identifier, this, toString());
    }

    /** Whether the route leads over iWARP, which a device of another transport cannot reach. */
    boolean isWarp() {
        return identifier.isWarp();
    }

    /** The name of the local device, for {@link org.jrdma.verbs.Verbs#open}. */
    public String deviceName() {
        return deviceName;
    }

    /** The port of the local device, from 1. */
    public int devicePort() {
        return identifier.devicePort().orElseThrow();
    }

    /** The local address, which the peer will see. */
    public InetSocketAddress localAddress() {
        return identifier.localAddress().orElseThrow();
    }

    /** The peer's address. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** The paths through the fabric; none on iWARP. */
    public List<PathRecord> paths() {
        return identifier.paths();
    }

    /**
     * Connects, and waits until the peer has accepted.
     *
     * @param domain a protection domain of the route's device
     * @throws CmException if the peer rejects the connection, or does not answer
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this object or the domain is or becomes closed
     * @throws IllegalArgumentException if the options have a local address or a type of service
     */
    public <Q extends QueuePair> Connection<Q> connect(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout)
            throws FabricException, InterruptedIOException {
        options.refusePath(this);
        return connect(domain, options, Deadline.after(timeout));
    }

    /**
     * Connects as {@link #connect(ProtectionDomain, ConnectionOptions, Duration)} does, without
     * waiting. Cancelling the future ends the attempt and leaves nothing open.
     */
    public <Q extends QueuePair> CompletableFuture<Connection<Q>> connectAsync(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout) {
        return Cancellable.start(
                "jrdma-connect-async", () -> connect(domain, options, timeout), Connection::close);
    }

    <Q extends QueuePair> Connection<Q> connect(
            ProtectionDomain domain, ConnectionOptions<Q> options, Deadline deadline)
            throws FabricException, InterruptedIOException {
        try {
            return new Handshake<>(ownership, domain, options).connect(deadline);
        } finally {
            Reference.reachabilityFence(this); // is not reported as a leak meanwhile
        }
    }

    /** Ends an attempt to connect by any thread. A connection that was made stays open. */
    @Override
    public void close() {
        ownership.close();
    }

    @Override
    public String toString() {
        return "route to %s through %s".formatted(peerAddress, deviceName);
    }
}
