package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;

/**
 * A listener for connect requests. Any number of threads can wait for requests; each request is
 * returned to one thread.
 *
 * <p>Requests wait in a backlog until a thread takes them. The peer of a request may have timed out
 * before a thread takes the request. If the backlog is full, new requests are dropped and their
 * peers retransmit them; on iWARP, new requests are rejected.
 *
 * <p>Closing the listener rejects the requests in the backlog, but does not close connections. It
 * ends the waits of all threads with a {@link ListenerClosedException}:
 *
 * <pre>{@code
 * try {
 *     while (true) {
 *         var request = listener.next(ChronoUnit.FOREVER.getDuration());
 *         threads.execute(() -> serve(request));
 *     }
 * } catch (ListenerClosedException e) {
 *     // Another thread has closed the listener because the server stops.
 * }
 * }</pre>
 */
public final class Listener implements AutoCloseable {

    private final RequestQueue requests;

    Listener(RequestQueue requests) {
        this.requests = requests;
        requests.watch(this, toString());
    }

    /**
     * An address and port at which peers can reach this listener: the address to which it is bound,
     * or the first of the {@link #localAddresses()} if it is bound to the wildcard address.
     */
    public InetSocketAddress localAddress() {
        return requests.localAddress();
    }

    /**
     * The addresses at which peers can reach this listener. A listener that is bound to the
     * wildcard address is reachable only at the addresses of this machine's RDMA devices, or, on
     * the software fabric, of this process's devices. On InfiniBand and iWARP, the addresses of
     * devices are unknown, and the wildcard address itself is returned.
     */
    public List<InetSocketAddress> localAddresses() {
        return requests.localAddresses();
    }

    /**
     * Waits for a connect request.
     *
     * @throws org.jrdma.verbs.model.VerbsException if the device is being removed
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws ListenerClosedException if this listener is closed before or during the wait
     */
    public ConnectionRequest next(Duration timeout) throws FabricException, InterruptedIOException {
        return next(Deadline.after(timeout));
    }

    /**
     * Takes a connect request without blocking; see {@link #next(Duration)}. Canceling the future
     * rejects a request that was already taken; otherwise no request is taken.
     */
    public CompletableFuture<ConnectionRequest> nextAsync(Duration timeout) {
        return CancellableCall.start(
                "jrdma-listen-async", () -> next(timeout), ConnectionRequest::close);
    }

    private ConnectionRequest next(Deadline deadline)
            throws FabricException, InterruptedIOException {
        return new ConnectionRequest(
                requests.next(
                        ConnectionEvent.ConnectRequest.class,
                        deadline,
                        "No request arrived at " + this,
                        toString()));
    }

    /**
     * Waits for a connect request and accepts it. A peer that does not complete the handshake
     * delays this call until the timeout, or until the library gives up, which takes several
     * seconds. A server that must not wait for such peers calls {@link #next(Duration)} in a loop,
     * and accepts each request on its own thread.
     *
     * @param domain a protection domain of the listener's device
     * @param timeout the timeout for both steps together
     * @throws CmException if the peer has timed out or withdrawn its request
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws ListenerClosedException if this listener is closed before or during the wait
     */
    public <Q extends QueuePair> Connection<Q> accept(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        return next(deadline).accept(domain, options, deadline);
    }

    /**
     * Takes and accepts a connect request without blocking; see {@link #accept}. Canceling the
     * future rejects a request that was already taken, and closes all objects that the call
     * created.
     */
    public <Q extends QueuePair> CompletableFuture<Connection<Q>> acceptAsync(
            ProtectionDomain domain, ConnectionOptions<Q> options, Duration timeout) {
        return CancellableCall.start(
                "jrdma-accept-async", () -> accept(domain, options, timeout), Connection::close);
    }

    /**
     * Closes the listener without waiting for peers. Threads that wait for a request get a {@link
     * ListenerClosedException}.
     */
    @Override
    public void close() {
        requests.close();
    }

    @Override
    public String toString() {
        return "listener at " + AddressText.of(requests.boundAddress());
    }
}
