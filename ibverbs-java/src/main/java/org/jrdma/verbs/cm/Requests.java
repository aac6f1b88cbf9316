package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Leaks;
import org.jrdma.verbs.model.VerbsException;

/**
 * The requests to an identifier that listens. They have a channel of their own, where the system
 * counts them against the backlog until somebody wants one: it then moves to the channel of all
 * connections.
 */
final class Requests {

    private final EventChannel channel;
    private final EventChannel connections;
    private final Identifier listener;
    private final InetSocketAddress address;

    /** Held by the one thread that waits at the channel: each request is to wake one. */
    private final ReentrantLock turn = new ReentrantLock();

    /**
     * Takes over the channel.
     *
     * @param listener of that channel, which listens already
     */
    Requests(EventChannel channel, EventChannel connections, Identifier listener) {
        this.channel = channel;
        this.connections = connections;
        this.listener = listener;
        this.address = listener.localAddress().orElseThrow();
    }

    InetSocketAddress localAddress() {
        return address;
    }

    void reportIfDropped(Object user, String name) {
        Leaks.watch(user, name, channel.ownLifetime());
    }

    /**
     * Waits for a request of this type; others are refused.
     *
     * @param missed what to say has not happened, if it does not in time
     * @param name what to say is closed
     */
    <R extends ConnectionEvent.Request> R next(
            Class<R> type, Deadline deadline, String missed, String name)
            throws FabricException, InterruptedIOException {
        while (true) {
            var event = event(deadline, missed, name);
            if (type.isInstance(event)) {
                return type.cast(moved((ConnectionEvent.Request) event));
            } else if (event instanceof ConnectionEvent.Request other) {
                other.identifier().close();
            } else if (event instanceof ConnectionEvent.DeviceRemoved removed
                    && removed.identifier() == listener) {
                close();
                throw new VerbsException(
                        "rdma_listen", name + " has ended: its device is being taken out");
            } // else it is news, which ends nothing
        }
    }

    private ConnectionEvent event(Deadline deadline, String missed, String name)
            throws FabricException, InterruptedIOException {
        try {
            if (!turn.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
                throw deadline.missed(missed);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for " + name);
        }
        try {
            return channel.next(deadline, missed);
        } catch (IllegalStateException e) {
            throw new IllegalStateException(name + " is closed", e);
        } finally {
            turn.unlock();
        }
    }

    /** What becomes of it since is told at the channel of all connections. */
    private ConnectionEvent.Request moved(ConnectionEvent.Request request) throws VerbsException {
        Identifier moved;
        try {
            moved = request.identifier().migrateTo(connections);
        } catch (VerbsException e) {
            request.identifier().close();
            throw e;
        }
        return switch (request) {
            case ConnectionEvent.ConnectRequest asked ->
                    new ConnectionEvent.ConnectRequest(
                            moved, asked.listener(), asked.parameters(), asked.privateData());
            case ConnectionEvent.DatagramRequest asked ->
                    new ConnectionEvent.DatagramRequest(
                            moved, asked.listener(), asked.privateData());
        };
    }

    /** Refuses what nobody has taken. */
    void close() {
        channel.close();
    }
}
