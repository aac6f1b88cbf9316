package org.jrdma.sockets.bypass;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.sockets.internal.ReadinessSource;
import org.jrdma.sockets.internal.SocketCalls;
import org.jspecify.annotations.Nullable;

/**
 * A listener at a port, for connections that bypass the kernel. Ready when a connection is waiting
 * to be accepted.
 */
public abstract class BypassListener extends ReadinessSource {

    /**
     * A connection that is waiting to be accepted.
     *
     * @param stream the stream
     * @param local the address that the peer connected to
     * @param remote the address of the peer
     */
    public record Arrival(BypassStream stream, InetSocketAddress local, InetSocketAddress remote) {}

    // Guarded by this
    private final Queue<Arrival> arrivals = new ArrayDeque<>();
    private boolean closed;

    /** Adds a connection to the accept queue; returns false if the listener is closed. */
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

    protected final synchronized int queued() {
        return arrivals.size();
    }

    /**
     * Removes the next connection from the accept queue; returns null if the queue is empty.
     * Notifies the threads that wait on this object's monitor.
     */
    public final synchronized @Nullable Arrival poll() {
        notifyAll();
        return arrivals.poll();
    }

    public final synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public final synchronized int ready() {
        return arrivals.isEmpty() ? 0 : SocketCalls.POLLIN;
    }

    @Override
    protected final void arm(int events) {} // each connection is reported in any case

    /**
     * Stops listening, and resets the connections that were not accepted. The port is free when
     * this method returns. May block.
     */
    public final void close() {
        List<Arrival> left;
        synchronized (this) {
            closed = true;
            left = List.copyOf(arrivals);
            arrivals.clear();
            notifyAll();
        }
        left.forEach(arrival -> arrival.stream().close(true));
        BlockingCalls.call(() -> {
            release();
            return null;
        });
    }

    /** Releases the port. Called on a platform thread. */
    protected abstract void release();
}
