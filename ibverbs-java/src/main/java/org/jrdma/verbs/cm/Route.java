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
 * The way to a peer: which device leads there. For programs that open the device only then. Good
 * for one connection, which takes over what is open here; an attempt that fails closes it.
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

    /** The device, for {@link org.jrdma.verbs.Verbs#open}. */
    public String deviceName() {
        return deviceName;
    }

    /** The device's port, from 1. */
    public int devicePort() {
        return identifier.devicePort().orElseThrow();
    }

    /** The address that the peer will see. */
    public InetSocketAddress localAddress() {
        return identifier.localAddress().orElseThrow();
    }

    /** Where it leads to. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** The ways through the fabric; none on iWARP. */
    public List<PathRecord> paths() {
        return identifier.paths();
    }

    /**
     * Connects, and waits until the peer has accepted.
     *
     * @param domain of the route's device
     * @throws CmException if the peer refuses, or does not answer the fabric
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this is closed, before or meanwhile, or the domain
     * @throws IllegalArgumentException if the options say from where, or with which type of service
     */
    public <Q extends QueuePair> Connection<Q> connect(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout)
            throws FabricException, InterruptedIOException {
        options.refusePath(this);
        return connect(domain, options, Deadline.after(timeout));
    }

    /**
     * The same, without waiting. A future that is cancelled ends it at once, and leaves nothing
     * behind.
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
            Reference.reachabilityFence(this); // it is not forgotten as long as this goes on
        }
    }

    /** Ends an attempt to connect of another thread, too; a connection that was made lives on. */
    @Override
    public void close() {
        ownership.close();
    }

    @Override
    public String toString() {
        return "route to %s through %s".formatted(peerAddress, deviceName);
    }
}
