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
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.network.Routes;

/**
 * A device that this implementation of librdmacm has opened for one or more {@code rdma_cm_id}
 * objects.
 */
final class ConnectionDevice {

    private final ContextObject context;
    private final DeviceObject object;
    private final ConnectionManager connections;
    private final int scope;

    /**
     * The number of {@code rdma_cm_id} objects and listeners that use the device. Guarded by the
     * lock of {@link ConnectionExports}.
     */
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

    RoceGid address() {
        return context.port().address();
    }

    /** Returns the socket address that consists of the address of this device and a port number. */
    SocketName name(int port) {
        return new SocketName(address(), port, scope);
    }

    /**
     * Returns the socket address that consists of the address of a peer and a port number. If the
     * peer's address is link-local, the socket address contains the index of this device's network
     * interface.
     */
    SocketName peer(RoceGid peer, int port) {
        return new SocketName(peer, port, peer.isLinkLocal() ? scope : 0);
    }

    /** The maximum path MTU of the device as a value of {@code enum ibv_mtu}. */
    int mtu() {
        return PathMtu.code(context.port().pathMtu());
    }

    /**
     * Calls a function with the connection manager of the device while holding the lock of the
     * device's port, and returns its result.
     */
    <T> T control(Function<ConnectionManager, T> action) {
        return context.port().control(_ -> action.apply(connections));
    }

    /**
     * Calls {@code action} with the connection manager of the device while holding the lock of the
     * device's port.
     */
    void run(Consumer<ConnectionManager> action) {
        context.port().run(_ -> action.accept(connections));
    }
}
