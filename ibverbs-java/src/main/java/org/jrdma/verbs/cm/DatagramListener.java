package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;

/**
 * A listener for {@linkplain DatagramServiceRequest requests} for a datagram service. Any number of
 * threads can wait for requests; each request is returned to one thread. Closing the listener
 * rejects the requests in the backlog.
 */
public final class DatagramListener implements AutoCloseable {

    private final RequestQueue requests;

    DatagramListener(RequestQueue requests) {
        this.requests = requests;
        requests.watch(this, toString());
    }

    /**
     * An address and port at which peers can reach this listener; see {@link
     * Listener#localAddress()}.
     */
    public InetSocketAddress localAddress() {
        return requests.localAddress();
    }

    /**
     * Waits for a request.
     *
     * @throws org.jrdma.verbs.model.VerbsException if the device is being removed
     * @throws org.jrdma.ffi.FabricTimeoutException if the timeout expires first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws ListenerClosedException if this listener is closed before or during the wait
     */
    public DatagramServiceRequest next(Duration timeout)
            throws FabricException, InterruptedIOException {
        return new DatagramServiceRequest(
                requests.next(
                        ConnectionEvent.DatagramRequest.class,
                        Deadline.after(timeout),
                        "No request arrived at " + this,
                        toString()));
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
        return "listener for datagrams at " + AddressText.of(requests.boundAddress());
    }
}
