package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Leaks;
import org.jrdma.verbs.model.VerbsException;

/**
 * The requests to an identifier that listens. They arrive at an event channel of their own, where
 * the system counts them against the backlog until a thread takes them; a request then moves to the
 * channel of all connections.
 */
final class RequestQueue {

    private final EventChannel channel;
    private final EventChannel connections;
    private final Identifier listener;
    private final InetSocketAddress bound;
    private final LocalDevices devices;

    /** Held by the thread that waits at the channel, so that each request wakes up one thread. */
    private final ReentrantLock turn = new ReentrantLock();

    /**
     * Takes ownership of a channel.
     *
     * @param listener the identifier of that channel, which is listening
     */
    RequestQueue(
            EventChannel channel,
            EventChannel connections,
            Identifier listener,
            LocalDevices devices) {
        this.channel = channel;
        this.connections = connections;
        this.listener = listener;
        this.bound = listener.localAddress().orElseThrow();
        this.devices = devices;
    }

    /** The address that the listener is bound to, which can be the wildcard address. */
    InetSocketAddress boundAddress() {
        return bound;
    }

    /** The first of the {@link #localAddresses()}. */
    InetSocketAddress localAddress() {
        return localAddresses().getFirst();
    }

    /**
     * The addresses at which the listener can be reached: the bound address, or for the wildcard
     * address those of the devices, or the wildcard address if they are not known.
     */
    List<InetSocketAddress> localAddresses() {
        if (!bound.getAddress().isAnyLocalAddress()) {
            return List.of(bound);
        }
        var served =
                devices.addresses().stream()
                        .filter(address ->
                                bound.getAddress() instanceof Inet6Address
                                        || address instanceof Inet4Address)
                        .map(address -> new InetSocketAddress(address, bound.getPort()))
                        .toList();
        return served.isEmpty() ? List.of(bound) : served;
    }

    /** Reports {@code user} as a leak if it is dropped without being closed. */
    void reportIfDropped(Object user, String name) {
        Leaks.watch(user, name, channel.ownLifetime());
    }

    /**
     * Waits for a request of a type, and rejects others.
     *
     * @param missed the description of the request in a timeout
     * @param name the name of the listener
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
            } // other events do not concern requests
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

    /** Moves a request, whose later events then arrive at the channel of all connections. */
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

    /** Rejects the requests that no thread has taken. */
    void close() {
        channel.close();
    }
}
