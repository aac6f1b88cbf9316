package org.jrdma.volume;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.NodeConnector;
import org.jrdma.volume.client.ServerConnector;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.ServerStatus;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.jrdma.volume.protocol.StatusReportEncoding;

/**
 * A connection to a server of a volume that returns the states of the server and of the clients.
 * The connection has no session, so it does not delay a takeover. Safe for use by multiple threads.
 */
public final class ServerQuery implements AutoCloseable {

    private static final int MAX_CLIENTS = 10_000;

    private final ServerConnector.Connection connection;
    private final Duration timeout;

    private ServerQuery(ServerConnector.Connection connection, Duration timeout) {
        this.connection = connection;
        this.timeout = timeout;
    }

    /**
     * Connects to a server.
     *
     * @param addresses the addresses of the server, one for each transport
     * @param timeout the longest wait for the connection, and for each reply
     * @throws FabricException if no address can be connected in time
     */
    public static ServerQuery open(List<String> addresses, NodeOptions options, Duration timeout)
            throws FabricException {
        var connection =
                new NodeConnector(options)
                        .connect(addresses, request -> request, timeout); // no requests arrive
        return new ServerQuery(connection, timeout);
    }

    /**
     * Lets the server, which is a standby, forward the further requests to the coordinator. The
     * other methods then return the states of the coordinator and of its clients. If the server has
     * not yet noticed a takeover, these are outdated states of the former coordinator.
     *
     * @throws FabricException if the server is not connected to a coordinator, is the coordinator,
     *     or does not reply in time
     */
    public void redirect() throws FabricException {
        var _ = call(RequestHeader.of(Operation.REDIRECT, 0).encoder());
    }

    /**
     * Returns the state of the server.
     *
     * @throws FabricException if the server does not reply in time
     */
    public ServerStatus server() throws FabricException {
        return StatusReportEncoding.decodeServer(
                call(RequestHeader.of(Operation.SERVER_STATE, 0).encoder()));
    }

    /**
     * Returns the states of the clients, including the servers, which are clients too. A client
     * reports its state several times per session timeout, and is missing before its first report.
     *
     * @throws FabricException if the server is not the coordinator, or does not reply in time
     */
    public List<ClientReport> clients() throws FabricException {
        var clients = new ArrayList<ClientReport>();
        var last = 0L;
        while (true) {
            var request = RequestHeader.of(Operation.CLIENT_STATES, 0).encoder();
            request.writeLong(last);
            var reply = call(request);
            if (reply.remaining() == 0 || clients.size() > MAX_CLIENTS) {
                return clients;
            }
            while (reply.remaining() > 0) {
                last = Math.max(last + 1, reply.readLong());
                clients.add(StatusReportEncoding.decodeClient(reply));
            }
        }
    }

    private Decoder call(Encoder request) throws FabricException {
        return ReplyEncoding.decode(connection.call(ByteBuffer.wrap(request.bytes()), timeout));
    }

    /** Closes the connection. */
    @Override
    public void close() {
        connection.close();
    }
}
