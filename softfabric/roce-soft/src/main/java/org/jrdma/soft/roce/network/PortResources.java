package org.jrdma.soft.roce.network;

import org.jrdma.ffi.FabricException;

/**
 * The network interface and the open UDP socket of a {@link Port}, and the calls and the poller
 * that the port uses with them.
 */
record PortResources(
        LocalInterface localInterface,
        SystemCalls calls,
        UdpSocket socket,
        SocketPoller readiness) {

    /** Creates a port. Leaves no resources open if this fails. */
    static Port openPort(PortOptions options) throws FabricException {
        var localInterface = LocalInterface.of(options.address());
        var calls = new SystemCalls();
        var socket = UdpSocket.at(options.address(), localInterface, options.socketBuffer(), calls);
        try {
            return openPort(options, localInterface, calls, socket);
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    private static Port openPort(
            PortOptions options, LocalInterface localInterface, SystemCalls calls, UdpSocket socket)
            throws FabricException {
        var readiness = new SocketPoller();
        try {
            return new Port(options, new PortResources(localInterface, calls, socket, readiness));
        } catch (Throwable e) {
            readiness.close();
            throw e;
        }
    }
}
