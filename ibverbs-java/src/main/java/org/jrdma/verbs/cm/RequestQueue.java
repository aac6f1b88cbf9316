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
 * The queue of the requests that a listening {@link Identifier} has received. They wait in an event
 * channel that only this listener uses, and count towards the backlog until a thread takes them.
 * The identifier of a request that is taken moves to the event channel of all connections.
 */
final class RequestQueue {

    private final EventChannel channel;
    private final EventChannel connections;
    private final Identifier listener;
    private final InetSocketAddress boundAddress;
    private final LocalDeviceAddresses devices;

    /**
     * Held by the thread that waits at the event channel. Because only one thread waits there, each
     * request wakes up only one thread.
     */
    private final ReentrantLock takeLock = new ReentrantLock();

    /**
     * Creates a request queue.
     *
     * @param channel the event channel of the listener, which this object owns
     * @param connections the event channel to which taken requests move
     * @param listener the listening identifier
     */
    RequestQueue(
            EventChannel channel,
            EventChannel connections,
            Identifier listener,
            LocalDeviceAddresses devices) {
        this.channel = channel;
        this.connections = connections;
        this.listener = listener;
        this.boundAddress = listener.localAddress().orElseThrow();
        this.devices = devices;
    }

    /** The address to which the listener is bound, which can be the wildcard address. */
    InetSocketAddress boundAddress() {
        return boundAddress;
    }

    /** The first of the {@link #localAddresses()}. */
    InetSocketAddress localAddress() {
        return localAddresses().getFirst();
    }

    /**
     * The addresses at which peers can reach the listener: the bound address or, if that is the
     * wildcard address, the addresses of all devices. If the latter are unknown, the result
     * contains the wildcard address.
     */
    List<InetSocketAddress> localAddresses() {
        if (!boundAddress.getAddress().isAnyLocalAddress()) {
            return List.of(boundAddress);
        }
        var reachable =
                devices.addresses().stream()
                        .filter(address ->
                                boundAddress.getAddress() instanceof Inet6Address
                                        || address instanceof Inet4Address)
                        .map(address -> new InetSocketAddress(address, boundAddress.getPort()))
                        .toList();
        return reachable.isEmpty() ? List.of(boundAddress) : reachable;
    }

    /**
     * Reports a leak if the listener object becomes unreachable without being closed.
     *
     * @param owner the listener that owns this queue
     */
    void watch(Object owner, String name) {
        Leaks.watch(owner, name, channel.ownLifetime());
    }

    /**
     * Waits for a request of the given type, and rejects requests of other types.
     *
     * @throws ListenerClosedException if the listener is closed before or during the wait
     * @param timedOut the start of the exception message for a timeout; the message ends with
     *     "within" and the timeout
     * @param name the name of the listener in exception messages
     */
    <R extends ConnectionEvent.Request> R next(
            Class<R> type, Deadline deadline, String timedOut, String name)
            throws FabricException, InterruptedIOException {
        while (true) {
            var event = event(deadline, timedOut, name);
            if (type.isInstance(event)) {
                return type.cast(migrated((ConnectionEvent.Request) event, name));
            } else if (event instanceof ConnectionEvent.Request other) {
                other.identifier().close();
            } else if (event instanceof ConnectionEvent.DeviceRemoved removed
                    && removed.identifier() == listener) {
                close();
                throw new VerbsException(
                        "rdma_listen", name + " was closed: its device is being removed");
            } // All other events are ignored.
        }
    }

    private ConnectionEvent event(Deadline deadline, String timedOut, String name)
            throws FabricException, InterruptedIOException {
        try {
            if (!takeLock.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
                throw deadline.missed(timedOut);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for " + name);
        }
        try {
            return channel.next(deadline, timedOut);
        } catch (IllegalStateException e) {
            throw new ListenerClosedException(name, e);
        } finally {
            takeLock.unlock();
        }
    }

    /** Moves the identifier of a request to the event channel of all connections. */
    private ConnectionEvent.Request migrated(ConnectionEvent.Request request, String name)
            throws VerbsException {
        Identifier migrated;
        try {
            migrated = request.identifier().migrateTo(connections);
        } catch (IllegalStateException e) {
            request.identifier().close();
            // Closing the listener also closes the identifiers of requests that are being taken.
            throw channel.isOpen() ? e : new ListenerClosedException(name, e);
        } catch (Throwable e) {
            request.identifier().close();
            throw e;
        }
        return switch (request) {
            case ConnectionEvent.ConnectRequest(_, var from, var parameters, var privateData) ->
                    new ConnectionEvent.ConnectRequest(migrated, from, parameters, privateData);
            case ConnectionEvent.DatagramRequest(_, var from, var privateData) ->
                    new ConnectionEvent.DatagramRequest(migrated, from, privateData);
        };
    }

    /** Closes the event channel, and rejects the requests that no thread has taken. */
    void close() {
        channel.close();
    }
}
