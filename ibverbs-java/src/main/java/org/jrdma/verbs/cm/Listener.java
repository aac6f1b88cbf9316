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
 * Where peers connect to. Any number of threads may wait for them; each request goes to one.
 *
 * <p>As with TCP, requests that nobody takes wait as far as the backlog goes, and there may be some
 * among them whose peer has given up since; whoever finds no room asks again after a while. Its
 * close refuses the requests that nobody has taken; connections live on.
 */
public final class Listener implements AutoCloseable {

    private final RequestQueue requests;

    @SuppressWarnings("this-escape") // all is set
    Listener(RequestQueue requests) {
        this.requests = requests;
        requests.reportIfDropped(this, toString());
    }

    /**
     * An address at which peers reach this listener, with its port: the address that it is bound to,
     * or the first of the {@link #localAddresses()} if that is the wildcard address.
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
     * @throws org.jrdma.verbs.model.VerbsException if the device is being taken out
     * @throws org.jrdma.ffi.FabricTimeoutException if none comes in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this is closed, before or meanwhile
     */
    public ConnectionRequest next(Duration timeout) throws FabricException, InterruptedIOException {
        return next(Deadline.after(timeout));
    }

    /**
     * The same, without waiting. A future that is cancelled takes no request any more; one that has
     * come by then is refused.
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

    /**
     * The same, without waiting. A future that is cancelled ends it at once: a peer whose request
     * was taken by then is refused, and nothing is left behind.
     */
    public <Q extends QueuePair> CompletableFuture<Connection<Q>> acceptAsync(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout) {
        return Cancellable.start(
                "jrdma-accept-async", () -> accept(domain, options, timeout), Connection::close);
    }

    /** Does not wait for anyone. */
    @Override
    public void close() {
        requests.close();
    }

    @Override
    public String toString() {
        return "listener at " + requests.boundAddress();
    }
}
