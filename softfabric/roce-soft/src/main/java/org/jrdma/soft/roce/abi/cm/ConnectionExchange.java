package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.connection.ConnectReply;
import org.jrdma.soft.roce.connection.Connection;
import org.jrdma.soft.roce.connection.ConnectionEvent;
import org.jrdma.soft.roce.connection.EceOptions;
import org.jrdma.soft.roce.connection.Rejection;

/**
 * The connection handshake of an {@code rdma_cm_id} with its peer, started by either side, and the
 * messages that end the connection.
 */
final class ConnectionExchange implements IdentifierExchange {

    private final ConnectionDevice device;
    private final Connection connection;
    private final IdentifierOptions options;

    ConnectionExchange(ConnectionDevice device, Connection connection, IdentifierOptions options) {
        this.device = device;
        this.connection = connection;
        this.options = options;
    }

    @Override
    public void accept(long parameters) {
        if (parameters == 0) {
            IdentifierExchange.requireValid(device.control(_ -> connection.confirm()));
            return;
        }
        var requested = ConnectionParameterCodec.at(parameters);
        var data = ConnectionParameterCodec.privateData(requested, ConnectReply.PRIVATE_BYTES);
        var offer = ConnectionParameterCodec.offer(requested);
        IdentifierExchange.requireValid(
                device.control(_ -> {
                    // The accept message must carry the vendor ID of the ECE options that the
                    // connect request has offered. Otherwise the peer ignores the options in the
                    // message.
                    var vendor = peersEnhancement().vendor();
                    var enhancement = new EceOptions(vendor, options.enhancement.options());
                    return connection.reply(offer.with(enhancement), data);
                }));
    }

    @Override
    public EceOptions peersEnhancement() {
        return device.control(_ -> {
            var peers = connection.negotiated().peers();
            return peers == null ? EceOptions.NONE : peers.enhancement();
        });
    }

    @Override
    public void reject(int reason, long privateData, byte length) {
        var data =
                ConnectionParameterCodec.privateData(privateData, length, Rejection.PRIVATE_BYTES);
        IdentifierExchange.requireValid(device.control(_ -> connection.reject(reason, data)));
    }

    /**
     * Disconnects, or answers the disconnect request of the peer. If the connection has already
     * ended, this method has no effect, as in the kernel.
     */
    @Override
    public void disconnect() {
        device.control(_ -> connection.disconnect());
    }

    @Override
    public void establish() {
        IdentifierExchange.requireValid(device.control(_ -> connection.establish()));
    }

    @Override
    public int initialize(MemorySegment attributes, int state) {
        return device.control(
                _ -> QueuePairTransitionAttributes.of(connection, options, attributes, state));
    }

    @Override
    public void close() {
        device.run(_ -> connection.close());
    }

    /**
     * Returns a receiver that reports the events of a connection to the program. It is called while
     * the port's lock is held.
     */
    static ConnectionEvent.Receiver reportingTo(IdentifierEvents events) {
        return event -> report(events, event);
    }

    private static void report(IdentifierEvents events, ConnectionEvent event) {
        switch (event) {
            case ConnectionEvent.Replied(var reply) ->
                    events.report(
                            rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(),
                            0,
                            parameters -> ConnectionParameterCodec.write(reply.offer(), parameters),
                            reply.privateData());
            case ConnectionEvent.Established() -> events.report(rdma_h.RDMA_CM_EVENT_ESTABLISHED());
            case ConnectionEvent.Rejected(var reason, var data) ->
                    events.report(
                            rdma_h.RDMA_CM_EVENT_REJECTED(),
                            reason,
                            IdentifierEvents::withoutParameters,
                            data);
            case ConnectionEvent.Unreachable() ->
                    events.report(rdma_h.RDMA_CM_EVENT_UNREACHABLE(), -Errno.ETIMEDOUT);
            case ConnectionEvent.Disconnected() ->
                    events.report(rdma_h.RDMA_CM_EVENT_DISCONNECTED());
            case ConnectionEvent.TimeWaitExited() ->
                    events.report(rdma_h.RDMA_CM_EVENT_TIMEWAIT_EXIT());
        }
    }
}
