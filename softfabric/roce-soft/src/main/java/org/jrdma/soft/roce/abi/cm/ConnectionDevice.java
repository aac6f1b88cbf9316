package org.jrdma.soft.roce.abi.cm;

import java.util.function.Consumer;
import java.util.function.Function;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.PathMtu;
import org.jrdma.soft.roce.abi.verbs.ContextObject;
import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.connection.ConnectionManager;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.network.Routes;

/** A device that the connection manager has opened. */
final class ConnectionDevice {

    private final ContextObject context;
    private final DeviceObject object;
    private final ConnectionManager connections;
    private final int scope;

    /** The number of users. Guarded by the connection manager's lock. */
    int users;

    ConnectionDevice(ContextObject context, DeviceObject object) {
        this.context = context;
        this.object = object;
        this.connections = object.connections();
        try {
            this.scope = Routes.scopeOf(address());
        } catch (FabricException e) {
            throw new ErrnoException(Errno.ENODEV, e.getMessage());
        }
    }

    ContextObject context() {
        return context;
    }

    DeviceObject object() {
        return object;
    }

    Address address() {
        return context.port().address();
    }

    /** Returns the socket address of a port of this device. */
    SocketName name(int port) {
        return new SocketName(address(), port, scope);
    }

    /**
     * Returns the socket address of a port of a peer. A link-local peer is on the link of this
     * device.
     */
    SocketName peer(Address peer, int port) {
        return new SocketName(peer, port, Routes.isLinkLocal(peer) ? scope : 0);
    }

    /** The code of the maximum path MTU. */
    int mtu() {
        return PathMtu.code(context.port().pathMtu());
    }

    /** Runs an action on the device's connection manager, while no other thread uses it. */
    <T> T control(Function<ConnectionManager, T> action) {
        return context.port().control(_ -> action.apply(connections));
    }

    /** Runs an action like {@link #control}, without a result. */
    void run(Consumer<ConnectionManager> action) {
        context.port().run(_ -> action.accept(connections));
    }
}
