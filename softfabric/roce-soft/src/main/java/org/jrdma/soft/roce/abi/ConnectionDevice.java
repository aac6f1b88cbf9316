package org.jrdma.soft.roce.abi;

import java.util.function.Function;
import org.jrdma.soft.roce.connection.ConnectionEngine;
import org.jrdma.soft.roce.engine.Address;

/** A device that the connection manager has open. */
final class ConnectionDevice {

    private final ContextObject context;
    private final DeviceObject object;
    private final ConnectionEngine connections;

    /** Who needs it; under the connection manager's lock. */
    int users;

    ConnectionDevice(ContextObject context, DeviceObject object) {
        this.context = context;
        this.object = object;
        this.connections = object.connections();
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

    /** The greatest path MTU, in C's code. */
    int mtu() {
        return PathMtu.code(context.port().pathMtu());
    }

    /** Acts on its connection manager, which nobody else does meanwhile. */
    <T> T control(Function<ConnectionEngine, T> action) {
        return context.port().control(_ -> action.apply(connections));
    }
}
