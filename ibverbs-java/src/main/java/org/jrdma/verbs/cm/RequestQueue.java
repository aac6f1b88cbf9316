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
 * The requests of a listening identifier. They arrive at a dedicated event channel, where they
 * count against the backlog until a thread takes them. A taken request moves to the event channel
 * of all connections.
 */
final class RequestQueue {

    private final EventChannel channel;
    private final EventChannel connections;
    private final Identifier listener;
    private final InetSocketAddress boundAddress;
    private final LocalDevices devices;

    /** Held by the thread that waits at the channel, so that each request wakes up one thread. */
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
            LocalDevices devices) {
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
     * The addresses at which the listener can be reached: the bound address, or the addresses of
     * all devices if that is the wildcard address and the addresses are known.
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

    /** Reports a leak if the owner becomes unreachable without being closed. */
    void watch(Object owner, String name) {
        Leaks.watch(owner, name, channel.ownLifetime());
    }

    /**
     * Waits for a request of the given type, and rejects requests of other types.
     *
     * @param timedOut the start of the message in case of a timeout, which ends with "within ..."
     * @param name the name of the listener
     */
    <R extends ConnectionEvent.Request> R next(
            Class<R> type, Deadline deadline, String timedOut, String name)
            throws FabricException, InterruptedIOException {
        while (true) {
            var event = event(deadline, timedOut, name);
            if (type.isInstance(event)) {
                return type.cast(migrated((ConnectionEvent.Request) event));
            } else if (event instanceof ConnectionEvent.Request other) {
                other.identifier().close();
            } else if (event instanceof ConnectionEvent.DeviceRemoved removed
                    && removed.identifier() == listener) {
                close();
                throw new VerbsException(
                        "rdma_listen", name + " was closed: its device is being removed");
            } // other events are not requests
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
            throw new InterruptedIOException("interrupted while waiting for " + name);
        }
        try {
            return channel.next(deadline, timedOut);
        } catch (IllegalStateException e) {
            throw new IllegalStateException(name + " is closed", e);
        } finally {
            takeLock.unlock();
        }
    }

    /** Moves the identifier of a request to the event channel of all connections. */
    private ConnectionEvent.Request migrated(ConnectionEvent.Request request)
            throws VerbsException {
        Identifier migrated;
        try {
            migrated = request.identifier().migrateTo(connections);
        } catch (VerbsException e) {
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
