package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_ah_attr;
import org.jrdma.abi.rdma.ibv_gid;
import org.jrdma.abi.rdma.ibv_global_route;
import org.jrdma.abi.rdma.ibv_grh;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.GidCodec;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.RouteHeader;

/** The functions of libibverbs for queue pairs, address handles and multicast groups. */
final class QueuePairExports {

    private static final int MAX_HOPS = 64;

    private QueuePairExports() {}

    @Exported(value = "ibv_create_qp", failure = ErrorConvention.NULL)
    static long create(long domain, long requested) {
        return new QueuePairObject(
                        ProtectionDomainObject.of(domain),
                        CallerMemory.at(requested, ibv_qp_init_attr.layout()),
                        false)
                .structure()
                .address();
    }

    /** Returns the address of the queue pair if it is an {@code ibv_qp_ex}, otherwise NULL. */
    @Exported(value = "ibv_qp_to_qp_ex", failure = ErrorConvention.NULL)
    static long extended(long queuePair) {
        return QueuePairObject.of(queuePair).isExtended() ? queuePair : 0;
    }

    @Exported(value = "ibv_modify_qp", failure = ErrorConvention.ERRNO)
    static int modify(long queuePair, long attributes, int mask) {
        QueuePairObject.of(queuePair)
                .modify(CallerMemory.at(attributes, ibv_qp_attr.layout()), mask);
        return 0;
    }

    @Exported(value = "ibv_query_qp", failure = ErrorConvention.ERRNO)
    static int query(long queuePair, long target, int mask, long initialTarget) {
        QueuePairObject.of(queuePair)
                .query(
                        CallerMemory.at(target, ibv_qp_attr.layout()),
                        CallerMemory.at(initialTarget, ibv_qp_init_attr.layout()));
        return 0;
    }

    @Exported(value = "ibv_destroy_qp", failure = ErrorConvention.ERRNO)
    static int destroy(long queuePair) {
        var found = QueuePairObject.of(queuePair);
        found.requireNoGroups();
        found.stop();
        found.asyncEvents().awaitNone();
        found.destroy();
        return 0;
    }

    @Exported(value = "ibv_create_ah", failure = ErrorConvention.NULL)
    static long createAddressHandle(long domain, long attributes) {
        return createAddressHandle(domain, CallerMemory.at(attributes, ibv_ah_attr.layout()));
    }

    private static long createAddressHandle(long domain, MemorySegment attributes) {
        var destination = GidCodec.destination(attributes);
        var owner = ProtectionDomainObject.of(domain);
        owner.context().port().preparePath(destination); // first, because it may fail
        return new AddressHandleObject(owner, destination).structure().address();
    }

    @Exported(value = "ibv_destroy_ah", failure = ErrorConvention.ERRNO)
    static int destroyAddressHandle(long handle) {
        AddressHandleObject.of(handle).destroy();
        return 0;
    }

    @Exported(value = "ibv_init_ah_from_wc", failure = ErrorConvention.MINUS_ONE)
    static int initializeAddressHandle(
            long context, byte port, long completion, long routeHeader, long target) {
        fillReturnAddress(
                ContextObject.of(context),
                port,
                completion,
                routeHeader,
                CallerMemory.at(target, ibv_ah_attr.layout()));
        return 0;
    }

    @Exported(value = "ibv_create_ah_from_wc", failure = ErrorConvention.NULL)
    static long createAddressHandle(long domain, long completion, long routeHeader, byte port) {
        var attributes = ibv_ah_attr.allocate(Arena.ofAuto());
        fillReturnAddress(
                ProtectionDomainObject.of(domain).context(),
                port,
                completion,
                routeHeader,
                attributes);
        return createAddressHandle(domain, attributes);
    }

    /**
     * Fills an {@code ibv_ah_attr} with the path back to the sender of a received datagram.
     *
     * @param completion the {@code ibv_wc} of the datagram
     * @param routeHeader the {@code ibv_grh} of the datagram
     */
    private static void fillReturnAddress(
            ContextObject context,
            int port,
            long completion,
            long routeHeader,
            MemorySegment attributes) {
        DeviceLimits.requirePort(port);
        var received = CallerMemory.at(completion, ibv_wc.layout());
        ErrnoException.throwIf(
                (ibv_wc.wc_flags(received) & rdma_h.IBV_WC_GRH()) == 0, Errno.EINVAL);
        var header = CallerMemory.at(routeHeader, ibv_grh.layout());
        var own =
                new RoceGid(
                        RouteHeader.destinationHigh(header), RouteHeader.destinationLow(header));
        if (!own.equals(context.port().address())) {
            // The destination of the datagram is a multicast group, and an answer cannot have a
            // group as its source address.
            throw new ErrnoException(Errno.EINVAL);
        }
        attributes.fill((byte) 0);
        ibv_ah_attr.port_num(attributes, (byte) port);
        ibv_ah_attr.is_global(attributes, (byte) 1);
        var route = ibv_ah_attr.grh(attributes);
        ibv_global_route.hop_limit(route, (byte) MAX_HOPS);
        GidCodec.write(
                new RoceGid(RouteHeader.sourceHigh(header), RouteHeader.sourceLow(header)),
                ibv_global_route.dgid(route));
    }

    @Exported(value = "ibv_attach_mcast", failure = ErrorConvention.ERRNO)
    static int attach(long queuePair, long gid, short lid) {
        QueuePairObject.of(queuePair).join(GidCodec.read(CallerMemory.at(gid, ibv_gid.layout())));
        return 0;
    }

    @Exported(value = "ibv_detach_mcast", failure = ErrorConvention.ERRNO)
    static int detach(long queuePair, long gid, short lid) {
        QueuePairObject.of(queuePair).leave(GidCodec.read(CallerMemory.at(gid, ibv_gid.layout())));
        return 0;
    }
}
