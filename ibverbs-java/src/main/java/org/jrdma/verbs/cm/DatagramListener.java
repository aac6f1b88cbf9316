package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.VerbsException;

/**
 * Where peers ask where the datagrams of a service go. Any number of threads may wait for them;
 * each question goes to one. Its close refuses those that nobody has taken.
 */
public final class DatagramListener implements AutoCloseable {

    private final Identifier identifier;
    private final InetSocketAddress address;

    @SuppressWarnings("this-escape") // all is set
    DatagramListener(Identifier identifier) {
        this.identifier = identifier;
        this.address = identifier.localAddress().orElseThrow();
        identifier.reportIfDropped(this, toString());
    }

    /** Where it listens, with the port that it was given. */
    public InetSocketAddress localAddress() {
        return address;
    }

    /**
     * Waits for a question.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if none comes in time
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this is closed, before or meanwhile
     */
    public DatagramInquiry next(Duration timeout) throws FabricException, InterruptedIOException {
        var event = identifier.inbox().take(Deadline.after(timeout), "No question to " + this);
        if (event instanceof ConnectionEvent.DatagramRequest request) {
            return new DatagramInquiry(request);
        }
        close();
        throw new VerbsException("rdma_listen", "%s has ended: %s".formatted(this, event));
    }

    /** Does not wait for anyone. */
    @Override
    public void close() {
        identifier.closeWithRequests();
    }

    @Override
    public String toString() {
        return "listener for datagrams at " + address;
    }
}
