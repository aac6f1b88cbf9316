package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;

/**
 * Where peers ask where the datagrams of a service go. Any number of threads may wait for them;
 * each question goes to one. Its close refuses those that nobody has taken.
 */
public final class DatagramListener implements AutoCloseable {

    private final Requests requests;

    @SuppressWarnings("this-escape") // all is set
    DatagramListener(Requests requests) {
        this.requests = requests;
        requests.reportIfDropped(this, toString());
    }

    /** Where it listens, with the port that it was given. */
    public InetSocketAddress localAddress() {
        return requests.localAddress();
    }

    /**
     * Waits for a question.
     *
     * @throws org.jrdma.verbs.model.VerbsException if the device is being taken out
     * @throws org.jrdma.ffi.FabricTimeoutException if none comes in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this is closed, before or meanwhile
     */
    public DatagramInquiry next(Duration timeout) throws FabricException, InterruptedIOException {
        return new DatagramInquiry(
                requests.next(
                        ConnectionEvent.DatagramRequest.class,
                        Deadline.after(timeout),
                        "No question to " + this,
                        toString()));
    }

    /** Does not wait for anyone. */
    @Override
    public void close() {
        requests.close();
    }

    @Override
    public String toString() {
        return "listener for datagrams at " + requests.localAddress();
    }
}
