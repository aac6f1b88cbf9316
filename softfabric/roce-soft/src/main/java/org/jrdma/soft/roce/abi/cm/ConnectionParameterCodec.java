package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_ah_attr;
import org.jrdma.abi.rdma.ibv_global_route;
import org.jrdma.abi.rdma.rdma_cm_event;
import org.jrdma.abi.rdma.rdma_conn_param;
import org.jrdma.abi.rdma.rdma_ud_param;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.GidCodec;
import org.jrdma.soft.roce.connection.ConnectRequest;
import org.jrdma.soft.roce.connection.EndpointParameters;
import org.jrdma.soft.roce.connection.Message;
import org.jrdma.soft.roce.engine.RoceGid;

/**
 * Decodes the {@code rdma_conn_param} structures that the program passes, and encodes the
 * parameters of events in the {@code param} member of an {@code rdma_cm_event}.
 */
final class ConnectionParameterCodec {

    /**
     * The value of {@code responder_resources} or {@code initiator_depth} that requests the maximum
     * of the device.
     */
    private static final int DEVICE_MAXIMUM = 0xff;

    /** The destination queue pair number of datagrams to a multicast group. */
    private static final int MULTICAST = 0xff_ffff;

    private static final int RETRIES = 7;
    private static final int LOW_24_BITS = 0xff_ffff;

    private ConnectionParameterCodec() {}

    /** Returns the {@code rdma_conn_param} that begins at an address. */
    static MemorySegment at(long address) {
        return CallerMemory.at(address, rdma_conn_param.layout());
    }

    /**
     * Returns the queue pair parameters in an {@code rdma_conn_param}. The packet sequence number
     * is 0.
     *
     * @throws ErrnoException with {@code EINVAL} if a value exceeds the limits of the device
     */
    static EndpointParameters offer(MemorySegment parameters) {
        return new EndpointParameters(
                rdma_conn_param.qp_num(parameters) & LOW_24_BITS,
                0,
                reads(rdma_conn_param.responder_resources(parameters)),
                reads(rdma_conn_param.initiator_depth(parameters)),
                rdma_conn_param.flow_control(parameters) != 0,
                rdma_conn_param.srq(parameters) != 0,
                Math.min(RETRIES, Byte.toUnsignedInt(rdma_conn_param.rnr_retry_count(parameters))));
    }

    private static int reads(byte value) {
        var count = Byte.toUnsignedInt(value);
        if (count == DEVICE_MAXIMUM) {
            return DeviceLimits.MAX_READS;
        }
        ErrnoException.throwIf(count > DeviceLimits.MAX_READS, Errno.EINVAL);
        return count;
    }

    static int retries(MemorySegment parameters) {
        return Math.min(RETRIES, Byte.toUnsignedInt(rdma_conn_param.retry_count(parameters)));
    }

    /**
     * Returns a copy of the private data in an {@code rdma_conn_param}.
     *
     * @throws ErrnoException with {@code EINVAL} if the private data is longer than {@code
     *     maxBytes}
     */
    static MemorySegment privateData(MemorySegment parameters, int maxBytes) {
        return privateData(
                rdma_conn_param.private_data(parameters).address(),
                rdma_conn_param.private_data_len(parameters),
                maxBytes);
    }

    /**
     * Copies the private data at an address. If the address is NULL, the copy is empty.
     *
     * @throws ErrnoException with {@code EINVAL} if the private data is longer than {@code
     *     maxBytes}
     */
    static MemorySegment privateData(long address, byte length, int maxBytes) {
        var bytes = Byte.toUnsignedInt(length);
        ErrnoException.throwIf(bytes > maxBytes, Errno.EINVAL);
        return address == 0 || bytes == 0
                ? Message.NO_DATA
                : MemorySegment.ofArray(new byte[bytes]).copyFrom(CallerMemory.at(address, bytes));
    }

    /**
     * Stores the parameters of a connect request in the event that reports the request.
     *
     * @param parameters the {@code param} member of the event
     */
    static void write(ConnectRequest request, MemorySegment parameters) {
        write(request.offer(), parameters);
        rdma_conn_param.retry_count(rdma_cm_event.param.conn(parameters), (byte) request.retries());
    }

    /**
     * Stores the parameters of the peer in an event. The values of responder resources and
     * initiator depth are swapped, because the READs that the peer issues are those that this side
     * must execute, and vice versa.
     *
     * @param parameters the {@code param} member of the event
     */
    static void write(EndpointParameters offer, MemorySegment parameters) {
        var connection = rdma_cm_event.param.conn(parameters);
        rdma_conn_param.qp_num(connection, offer.queuePair());
        rdma_conn_param.responder_resources(connection, (byte) offer.initiatorDepth());
        rdma_conn_param.initiator_depth(connection, (byte) offer.responderResources());
        rdma_conn_param.flow_control(connection, (byte) (offer.flowControl() ? 1 : 0));
        rdma_conn_param.rnr_retry_count(connection, (byte) offer.notReadyRetries());
        rdma_conn_param.srq(connection, (byte) (offer.sharedReceives() ? 1 : 0));
    }

    /**
     * Stores the destination for datagrams to a peer in an event.
     *
     * @param parameters the {@code param} member of the event
     */
    static void writeDatagrams(
            RoceGid peer, int trafficClass, int queuePair, int queueKey, MemorySegment parameters) {
        var datagrams = rdma_cm_event.param.ud(parameters);
        rdma_ud_param.qp_num(datagrams, queuePair);
        rdma_ud_param.qkey(datagrams, queueKey);
        address(peer, trafficClass, 0, rdma_ud_param.ah_attr(datagrams));
    }

    /**
     * Stores the destination for datagrams to a multicast group in an event.
     *
     * @param context the context that the program has passed when it joined the group
     * @param parameters the {@code param} member of the event
     */
    static void writeGroup(
            RoceGid group, int trafficClass, long context, MemorySegment parameters) {
        writeDatagrams(
                group,
                trafficClass,
                MULTICAST,
                QueuePairTransitionAttributes.QUEUE_KEY,
                parameters);
        rdma_ud_param.private_data(
                rdma_cm_event.param.ud(parameters), MemorySegment.ofAddress(context));
    }

    /**
     * Stores the path to a peer in an {@code ibv_ah_attr}.
     *
     * @param attributes an {@code ibv_ah_attr} that is filled with zeros
     */
    static void address(RoceGid peer, int trafficClass, int flowLabel, MemorySegment attributes) {
        ibv_ah_attr.is_global(attributes, (byte) 1);
        ibv_ah_attr.port_num(attributes, (byte) DeviceLimits.PORT);
        var route = ibv_ah_attr.grh(attributes);
        GidCodec.write(peer, ibv_global_route.dgid(route));
        ibv_global_route.hop_limit(route, (byte) IdentifierStructure.HOP_LIMIT);
        ibv_global_route.traffic_class(route, (byte) trafficClass);
        ibv_global_route.flow_label(route, flowLabel);
    }
}
