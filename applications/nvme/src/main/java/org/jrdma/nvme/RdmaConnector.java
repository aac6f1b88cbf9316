package org.jrdma.nvme;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.RdmaConnectRejection;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;

/**
 * Connects queues to targets through a verbs library.
 *
 * @param verbs the library of the devices
 * @param manager the connection manager of the same library
 */
record RdmaConnector(Verbs verbs, ConnectionManager manager) {

    private static final int CONTROLLER_ID_MASK = 0xffff;
    private static final long AUTHENTICATION_MASK = 3L << 17;

    /** Opens the device through which a target is reachable. */
    Device open(InetSocketAddress target, Duration timeout) throws FabricException {
        try (var route = manager.resolve(target, timeout)) {
            return verbs.open(route.deviceName());
        } catch (InterruptedIOException _) {
            throw new NvmeException(
                    "Interrupted while resolving the route to " + AddressText.of(target));
        }
    }

    /** Connects a queue, and describes the rejection of a target in words. */
    <Q extends QueuePair> Connection<Q> connect(
            InetSocketAddress address,
            ProtectionDomain domain,
            ConnectionOptions<Q> options,
            int queueId,
            Duration timeout)
            throws FabricException, InterruptedIOException {
        try {
            return manager.connect(address, domain, options, timeout);
        } catch (CmException e) {
            throw explained(e, address, queueId);
        }
    }

    /** Connects a queue without blocking. */
    <Q extends QueuePair> CompletableFuture<Connection<Q>> connectAsync(
            InetSocketAddress address,
            ProtectionDomain domain,
            ConnectionOptions<Q> options,
            Duration timeout) {
        return manager.connectAsync(address, domain, options, timeout);
    }

    /** Describes the rejection of a target in words; returns other failures as they are. */
    static FabricException explained(CmException failure, InetSocketAddress address, int queueId) {
        var rejection =
                failure.event()
                        .filter(ConnectionEvent.Rejected.class::isInstance)
                        .map(ConnectionEvent.Rejected.class::cast)
                        .flatMap(rejected ->
                                RdmaConnectRejection.decode(rejected.privateData().bytes()));
        if (rejection.isEmpty()) {
            return failure;
        }
        var explained =
                new NvmeException(
                        "The target at %s rejected queue %d: %s"
                                .formatted(
                                        AddressText.of(address), queueId, rejection.get().words()));
        explained.addSuppressed(failure);
        return explained;
    }

    /**
     * Returns the id of the controller from the result of a Connect command.
     *
     * @throws NvmeException if the target asks for authentication
     */
    static int controllerId(String controller, long result) throws NvmeException {
        if ((result & AUTHENTICATION_MASK) != 0) {
            throw new NvmeException(
                    "%s asks for authentication (DH-HMAC-CHAP), which this library does not support. Disable it for this host at the target."
                            .formatted(controller));
        }
        return (int) result & CONTROLLER_ID_MASK;
    }
}
