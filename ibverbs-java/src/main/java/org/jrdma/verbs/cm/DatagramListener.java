package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;

/**
 * A listener for requests for the destination of a service's datagrams. Any number of threads may
 * wait for requests; each request is returned to one of them. Closing rejects the requests that no
 * thread has taken.
 */
public final class DatagramListener implements AutoCloseable {

    private final RequestQueue requests;

    @SuppressWarnings("this-escape") // all is set
    DatagramListener(RequestQueue requests) {
        this.requests = requests;
        requests.reportIfDropped(this, toString());
    }

    /**
     * An address at which peers reach this listener, with its port; see {@link
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
     * @throws IllegalStateException if this listener is or becomes closed
     */
    public DatagramServiceRequest next(Duration timeout)
            throws FabricException, InterruptedIOException {
        return new DatagramServiceRequest(
                requests.next(
                        ConnectionEvent.DatagramRequest.class,
                        Deadline.after(timeout),
                        "No request to " + this,
                        toString()));
    }

    /** Closes without waiting for peers. */
    @Override
    public void close() {
        requests.close();
    }

    @Override
    public String toString() {
        return "listener for datagrams at " + requests.boundAddress();
    }
}
