package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.connection.SidrClient;
import org.jrdma.soft.roce.connection.SidrReply;
import org.jrdma.soft.roce.engine.RoceGid;

/**
 * The client side of SIDR: an {@code rdma_cm_id} asks a peer for the queue pair of a datagram
 * service.
 */
final class SidrClientExchange implements IdentifierExchange {

    private final ConnectionDevice device;
    private final SidrClient client;

    /**
     * Starts the exchange: sends the request to the peer.
     *
     * @param data the private data, which begins with the header of librdmacm
     */
    SidrClientExchange(
            ConnectionDevice device,
            RoceGid peer,
            long serviceId,
            MemorySegment data,
            IdentifierEvents events,
            IdentifierOptions options) {
        this.device = device;
        this.client =
                device.control(manager ->
                        manager.resolve(
                                peer,
                                serviceId,
                                DeviceLimits.DEFAULT_PARTITION_KEY,
                                data,
                                new ResponseListener(peer, events, options)));
    }

    @Override
    public int initialize(MemorySegment attributes, int state) {
        return QueuePairTransitionAttributes.ofDatagrams(attributes, state);
    }

    @Override
    public void close() {
        device.run(_ -> client.close());
    }

    private record ResponseListener(
            RoceGid peer, IdentifierEvents events, IdentifierOptions options)
            implements SidrClient.Receiver {

        @Override
        public void answered(SidrReply reply) {
            if (reply.status() == SidrReply.VALID) {
                events.report(
                        rdma_h.RDMA_CM_EVENT_ESTABLISHED(),
                        0,
                        parameters ->
                                ConnectionParameterCodec.writeDatagrams(
                                        peer,
                                        options.trafficClass,
                                        reply.queuePair(),
                                        reply.queueKey(),
                                        parameters),
                        reply.privateData());
            } else {
                events.report(
                        rdma_h.RDMA_CM_EVENT_UNREACHABLE(),
                        reply.status(),
                        IdentifierEvents::withoutParameters,
                        reply.privateData());
            }
        }

        @Override
        public void unreachable() {
            events.report(rdma_h.RDMA_CM_EVENT_UNREACHABLE(), -Errno.ETIMEDOUT);
        }
    }
}
