package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.connection.SidrReply;
import org.jrdma.soft.roce.connection.SidrServer;

/**
 * The server side of SIDR: an {@code rdma_cm_id} answers a peer's request for the queue pair of a
 * datagram service.
 */
final class SidrServerExchange implements IdentifierExchange {

    private final ConnectionDevice device;
    private final SidrServer server;

    SidrServerExchange(ConnectionDevice device, SidrServer server) {
        this.device = device;
        this.server = server;
    }

    @Override
    public void accept(long parameters) {
        var requested = ConnectionParameterCodec.at(parameters);
        var data = ConnectionParameterCodec.privateData(requested, SidrReply.PRIVATE_BYTES);
        var queuePair = ConnectionParameterCodec.offer(requested).queuePair();
        IdentifierExchange.requireValid(
                device.control(_ ->
                        server.accept(queuePair, QueuePairTransitionAttributes.QUEUE_KEY, data)));
    }

    @Override
    public void reject(int reason, long privateData, byte length) {
        var data =
                ConnectionParameterCodec.privateData(privateData, length, SidrReply.PRIVATE_BYTES);
        IdentifierExchange.requireValid(device.control(_ -> server.reject(data)));
    }

    @Override
    public int initialize(MemorySegment attributes, int state) {
        return QueuePairTransitionAttributes.ofDatagrams(attributes, state);
    }

    @Override
    public void close() {
        device.run(_ -> server.close());
    }
}
