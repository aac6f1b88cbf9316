package org.jrdma.sockets.bypass;

import java.net.InetSocketAddress;
import java.util.List;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jrdma.sockets.internal.ReadinessSource;
import org.jrdma.sockets.internal.SocketCalls;
import org.jspecify.annotations.Nullable;

/**
 * A listener for connections over a transport without a kernel socket. As a {@link
 * ReadinessSource}, it is ready if its accept queue contains a connection.
 */
public abstract class BypassListener extends ReadinessSource {

    /**
     * A connection in the accept queue.
     *
     * @param stream the local end of the connection
     * @param local the address that the peer connected to
     * @param remote the address of the peer
     */
    public record Arrival(BypassStream stream, InetSocketAddress local, InetSocketAddress remote) {}

    // Guarded by this
    private final ArrayQueue<Arrival> arrivals = new ArrayQueue<>();
    private boolean closed;

    /**
     * Adds a connection to the accept queue.
     *
     * @return false if the listener is closed; the caller must then close the stream
     */
    protected final boolean enqueue(Arrival arrival) {
        synchronized (this) {
            if (closed) {
                return false;
            }
            arrivals.add(arrival);
        }
        changed();
        return true;
    }

    /** Returns the number of connections in the accept queue. */
    protected final synchronized int queued() {
        return arrivals.size();
    }

    /**
     * Removes the next connection from the accept queue; returns null if the queue is empty.
     * Notifies the threads that wait, on the monitor of this object, for space in the queue.
     */
    public final synchronized @Nullable Arrival poll() {
        notifyAll();
        return arrivals.pollFirst();
    }

    public final synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public final synchronized int ready() {
        return arrivals.isEmpty() ? 0 : SocketCalls.POLLIN;
    }

    @Override
    // The listener calls changed() for each new connection without being armed.
    protected final void arm(int events, boolean parks) {}

    /**
     * Closes the listener, and resets the connections in the accept queue. The port is free when
     * this method returns. May block.
     */
    public final void close() {
        List<Arrival> unaccepted;
        synchronized (this) {
            closed = true;
            unaccepted = List.copyOf(arrivals);
            arrivals.clear();
            notifyAll();
        }
        unaccepted.forEach(arrival -> arrival.stream().close(true));
        BlockingCalls.call(() -> {
            release();
            return null;
        });
    }

    /** Releases the port. Called on a platform thread when the listener is closed; may block. */
    protected abstract void release();
}
