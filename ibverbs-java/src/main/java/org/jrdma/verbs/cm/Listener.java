package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.VerbsException;

/**
 * Where peers connect to. Any number of threads may wait for them; each request goes to one.
 *
 * <p>Its close refuses the requests that nobody has taken; connections live on.
 */
public final class Listener implements AutoCloseable {

    private final Identifier identifier;
    private final InetSocketAddress address;

    @SuppressWarnings("this-escape") // all is set
    Listener(Identifier identifier) {
        this.identifier = identifier;
        this.address = identifier.localAddress().orElseThrow();
        identifier.reportIfDropped(this, toString());
    }

    /** Where it listens, with the port that it was given. */
    public InetSocketAddress localAddress() {
        return address;
    }

    /**
     * Waits for a request.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if none comes in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this is closed, before or meanwhile
     */
    public ConnectionRequest next(Duration timeout) throws FabricException, InterruptedIOException {
        return next(Deadline.after(timeout));
    }

    private ConnectionRequest next(Deadline deadline)
            throws FabricException, InterruptedIOException {
        var event = identifier.inbox().take(deadline, "No request to " + this);
        if (event instanceof ConnectionEvent.ConnectRequest request) {
            return new ConnectionRequest(request);
        }
        close();
        throw new VerbsException("rdma_listen", "%s has ended: %s".formatted(this, event));
    }

    /**
     * Waits for a request and accepts it.
     *
     * @param domain of the device that the listener's address is of
     * @param timeout for all of it
     * @throws CmException if the peer has given up
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this is closed, before or meanwhile
     */
    public <Q extends QueuePair> Connection<Q> accept(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        return next(deadline).accept(domain, options, deadline);
    }

    /** Does not wait for anyone. */
    @Override
    public void close() {
        identifier.closeWithRequests();
    }

    @Override
    public String toString() {
        return "listener at " + address;
    }
}
