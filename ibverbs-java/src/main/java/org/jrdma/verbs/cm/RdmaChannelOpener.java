package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.cm.channel.ChannelParameters;
import org.jrdma.verbs.cm.handle.PrivateDataSizes;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;

/**
 * Opens an {@link RdmaChannel}: allocates the ring buffers, connects or accepts, and exchanges the
 * channel parameters.
 */
final class RdmaChannelOpener {

    private RdmaChannelOpener() {}

    static RdmaChannel connect(
            ProtectionDomain domain, RdmaChannelOptions options, Connector connector)
            throws FabricException, InterruptedIOException {
        options.checkPrivateData(PrivateDataSizes.REQUEST, isIwarp(domain));
        return open(domain, options, true, connector);
    }

    static RdmaChannel accept(
            ConnectionRequest request,
            ProtectionDomain domain,
            RdmaChannelOptions options,
            Duration timeout)
            throws FabricException, InterruptedIOException {
        try (request) { // The method close() rejects the request unless it was accepted.
            if (ChannelParameters.decode(request.privateData()).isEmpty()) {
                throw new VerbsException(
                        "rdma_accept",
                        "Cannot accept a channel: %s has no channel parameters".formatted(request));
            }
            options.checkPrivateData(PrivateDataSizes.REPLY, isIwarp(domain));
            return open(
                    domain,
                    options,
                    false,
                    connectionOptions -> request.accept(domain, connectionOptions, timeout));
        }
    }

    private static boolean isIwarp(ProtectionDomain domain) {
        return domain.device().description().transportType() == TransportType.IWARP;
    }

    /** Establishes the connection of a channel: connects, or accepts a connect request. */
    interface Connector {
        Connection<PolledQueuePair> connect(ConnectionOptions<PolledQueuePair> options)
                throws FabricException, InterruptedIOException;
    }

    private static RdmaChannel open(
            ProtectionDomain domain,
            RdmaChannelOptions options,
            boolean asInitiator,
            Connector connector)
            throws FabricException, InterruptedIOException {
        var rings = options.newRings(domain);
        Connection<PolledQueuePair> opened = null;
        try {
            var connection = connector.connect(options.connectionOptions(rings));
            opened = connection;
            var peer =
                    ChannelParameters.decode(connection.privateData())
                            .orElseThrow(() ->
                                    new VerbsException(
                                            "rdma_connect",
                                            "Cannot open a channel on %s: the peer sent no channel parameters"
                                                    .formatted(connection)));
            return new RdmaChannel(domain, connection, asInitiator, peer, rings, options);
        } catch (Throwable e) {
            if (opened != null) {
                opened.close();
            }
            rings.close();
            throw e;
        }
    }
}
