package org.jrdma.volume.history;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.ServerConnector;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.jrdma.volume.protocol.StatusReportEncoding;

/** Connects a client to all servers except the coordinator. */
record NetworkWithoutCoordinator(ServerConnector network) implements ServerConnector {

    @Override
    public Connection connect(
            List<String> addresses, UnaryOperator<ByteBuffer> incoming, Duration timeout)
            throws FabricException {
        var connection = network.connect(addresses, incoming, timeout);
        try {
            var reply =
                    connection.call(RequestHeader.of(Operation.SERVER_STATE, 0).message(), timeout);
            if (StatusReportEncoding.decodeServer(ReplyEncoding.decode(reply)).isCoordinator()) {
                throw new VolumeException("The network does not lead to the coordinator");
            }
            return connection;
        } catch (FabricException e) {
            connection.close();
            throw e;
        }
    }
}
