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

/** A device that the connection manager has open. */
final class ConnectionDevice {

    private final ContextObject context;
    private final DeviceObject object;
    private final ConnectionManager connections;
    private final int scope;

    /** Who needs it; under the connection manager's lock. */
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

    /** A port of it. */
    SocketName name(int port) {
        return new SocketName(address(), port, scope);
    }

    /** A port of a peer, which is on the same link where its address is link-local. */
    SocketName peer(Address peer, int port) {
        return new SocketName(peer, port, Routes.isLinkLocal(peer) ? scope : 0);
    }

    /** The greatest path MTU, in C's code. */
    int mtu() {
        return PathMtu.code(context.port().pathMtu());
    }

    /** Acts on its connection manager, which nobody else does meanwhile. */
    <T> T control(Function<ConnectionManager, T> action) {
        return context.port().control(_ -> action.apply(connections));
    }

    /** As {@link #control}, without a result. */
    void run(Consumer<ConnectionManager> action) {
        context.port().run(_ -> action.accept(connections));
    }
}
