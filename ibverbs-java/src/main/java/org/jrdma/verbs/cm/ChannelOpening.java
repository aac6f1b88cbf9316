package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.cm.channel.ChannelParameters;
import org.jrdma.verbs.cm.channel.RemoteOperations;
import org.jrdma.verbs.cm.handle.PrivateDataField;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;

/** Opens channels: allocates the rings, connects or accepts, and exchanges the parameters. */
final class ChannelOpening {

    private ChannelOpening() {}

    static RdmaChannel connect(
            ConnectionManager connections,
            InetSocketAddress peer,
            ProtectionDomain domain,
            RdmaChannelOptions options,
            Duration timeout)
            throws FabricException, InterruptedIOException {
        options.checkPrivateData(PrivateDataField.REQUEST, isWarp(domain));
        return open(
                domain,
                options,
                connectionOptions -> {
                    var connection = connections.connect(peer, domain, connectionOptions, timeout);
                    return new Established(connection, connection.privateData(), true);
                });
    }

    static RdmaChannel accept(
            ConnectionRequest request,
            ProtectionDomain domain,
            RdmaChannelOptions options,
            Duration timeout)
            throws FabricException, InterruptedIOException {
        try (request) { // rejects the request after a failure
            if (ChannelParameters.decode(request.privateData()).isEmpty()) {
                throw new VerbsException(
                        "rdma_accept", "%s does not ask for a channel".formatted(request));
            }
            options.checkPrivateData(PrivateDataField.REPLY, isWarp(domain));
            return open(
                    domain,
                    options,
                    connectionOptions ->
                            new Established(
                                    request.accept(domain, connectionOptions, timeout),
                                    request.privateData(),
                                    false));
        }
    }

    private static boolean isWarp(ProtectionDomain domain) {
        return domain.device().description().transportType() == TransportType.IWARP;
    }

    private record Established(
            Connection<PolledQueuePair> connection, PrivateData received, boolean asInitiator) {}

    private interface Connector {
        Established connect(ConnectionOptions<PolledQueuePair> options)
                throws FabricException, InterruptedIOException;
    }

    private static RdmaChannel open(
            ProtectionDomain domain, RdmaChannelOptions options, Connector connector)
            throws FabricException, InterruptedIOException {
        var rings = options.newRings(domain);
        Established established = null;
        RdmaChannel channel = null;
        try {
            established = connector.connect(options.connectionOptions(rings));
            var connection = established.connection;
            var peer =
                    ChannelParameters.decode(established.received)
                            .orElseThrow(() ->
                                    new VerbsException(
                                            "rdma_connect",
                                            "%s is not to a channel".formatted(connection)));
            channel =
                    new RdmaChannel(
                            domain,
                            connection,
                            established.received,
                            established.asInitiator,
                            peer,
                            rings,
                            new RemoteOperations(connection.queuePair(), options.operations()));
            return channel;
        } finally {
            if (channel == null) {
                if (established != null) {
                    established.connection.close();
                }
                rings.close();
            }
        }
    }
}
