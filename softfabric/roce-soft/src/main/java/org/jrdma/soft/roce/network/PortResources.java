package org.jrdma.soft.roce.network;

import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.sharedmemory.SharedMemoryRings;
import org.jspecify.annotations.Nullable;

/**
 * The network interface, the open UDP socket and the shared memory of a {@link Port}, and the calls
 * and the poller that the port uses with them.
 */
record PortResources(
        LocalInterface localInterface,
        SystemCalls calls,
        UdpSocket socket,
        SocketPoller poller,
        @Nullable SharedMemoryRings rings) {

    /**
     * Creates a port at the first address of a list for which this succeeds.
     *
     * @throws FabricException if no address succeeds; the message describes the failure of the
     *     first
     */
    static Port openFirstPort(List<PortOptions> candidates) throws FabricException {
        FabricException failure = null;
        for (var options : candidates) {
            try {
                return openPort(options);
            } catch (FabricException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure == null) {
            throw new IllegalArgumentException(
                    "Cannot open a port: no candidate address was given.");
        }
        if (failure.code() != Errno.EADDRINUSE) {
            throw failure;
        }
        // The owner is determined only once, because finding it reads the file descriptors of all
        // processes.
        var owner = UdpPortOwnerFinder.describe(candidates.getFirst().address());
        throw new FabricException(failure.getMessage() + " " + owner, failure.code(), failure);
    }

    /** Creates a port. Leaves no resources open if this fails. */
    private static Port openPort(PortOptions options) throws FabricException {
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
        var poller = new SocketPoller();
        SharedMemoryRings rings = null;
        try {
            if (options.sharesMemory()) {
                rings = SharedMemoryRings.open(options.address(), poller::wake);
            }
            return new Port(
                    options, new PortResources(localInterface, calls, socket, poller, rings));
        } catch (Throwable e) {
            if (rings != null) {
                rings.close();
            }
            poller.close();
            throw e;
        }
    }
}
