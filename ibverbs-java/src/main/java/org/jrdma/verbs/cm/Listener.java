package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;

/**
 * A listener for connection requests. Any number of threads may wait for requests; each request is
 * returned to one of them.
 *
 * <p>As with TCP, requests that no thread has taken wait in a backlog, and the peers of some of
 * them may have given up. A request that finds the backlog full is retransmitted by its peer.
 * Closing rejects the requests that no thread has taken; connections stay open.
 */
public final class Listener implements AutoCloseable {

    private final RequestQueue requests;

    @SuppressWarnings("this-escape") // all is set
    Listener(RequestQueue requests) {
        this.requests = requests;
        requests.reportIfDropped(this, toString());
    }

    /**
     * An address at which peers reach this listener, with its port: the address that it is bound
     * to, or the first of the {@link #localAddresses()} if that is the wildcard address.
     */
    public InetSocketAddress localAddress() {
        return requests.localAddress();
    }

    /**
     * The addresses at which peers reach this listener. A listener that is bound to the wildcard
     * address serves the addresses of this machine's RDMA devices only, not all addresses of the
     * machine; on the software fabric it serves those of this process's devices. On InfiniBand and
     * iWARP the addresses of devices are not known, and the wildcard address is returned.
     */
    public List<InetSocketAddress> localAddresses() {
        return requests.localAddresses();
    }

    /**
     * Waits for a request.
     *
     * @throws org.jrdma.verbs.model.VerbsException if the device is being removed
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this listener is or becomes closed
     */
    public ConnectionRequest next(Duration timeout) throws FabricException, InterruptedIOException {
        return next(Deadline.after(timeout));
    }

    /**
     * Waits for a request as {@link #next(Duration)} does, without blocking. A cancelled future
     * takes no request; a request that it has taken already is rejected.
     */
    public CompletableFuture<ConnectionRequest> nextAsync(Duration timeout) {
        return Cancellable.start(
                "jrdma-listen-async", () -> next(timeout), ConnectionRequest::close);
    }

    private ConnectionRequest next(Deadline deadline)
            throws FabricException, InterruptedIOException {
        return new ConnectionRequest(
                requests.next(
                        ConnectionEvent.ConnectRequest.class,
                        deadline,
                        "No request to " + this,
                        toString()));
    }

    /**
     * Waits for a request and accepts it.
     *
     * @param domain a protection domain of the listener's device
     * @param timeout the timeout of both steps together
     * @throws CmException if the peer has given up
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this listener is or becomes closed
     */
    public <Q extends QueuePair> Connection<Q> accept(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        return next(deadline).accept(domain, options, deadline);
    }

    /**
     * Waits for a request and accepts it as {@link #accept} does, without blocking. Cancelling the
     * future rejects a request that was taken already, and leaves nothing open.
     */
    public <Q extends QueuePair> CompletableFuture<Connection<Q>> acceptAsync(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout) {
        return Cancellable.start(
                "jrdma-accept-async", () -> accept(domain, options, timeout), Connection::close);
    }

    /** Closes without waiting for peers. */
    @Override
    public void close() {
        requests.close();
    }

    @Override
    public String toString() {
        return "listener at " + requests.boundAddress();
    }
}
