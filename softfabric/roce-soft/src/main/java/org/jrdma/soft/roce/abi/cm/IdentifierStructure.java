package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_sa_path_rec;
import org.jrdma.abi.rdma.rdma_addr;
import org.jrdma.abi.rdma.rdma_cm_id;
import org.jrdma.abi.rdma.rdma_ib_addr;
import org.jrdma.abi.rdma.rdma_route;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.GidCodec;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.connection.Connection;
import org.jrdma.soft.roce.engine.RoceGid;

/** An {@code rdma_cm_id} structure and its path record, in native memory. */
final class IdentifierStructure {

    /** The hop limit of paths, which is the value that the kernel uses. */
    static final int HOP_LIMIT = 64;

    private final MemorySegment memory;
    private final MemorySegment path;

    IdentifierStructure(
            IdentifierObject object, PortSpaceAndQueueType type, EventChannelObject channel) {
        memory = StructureRegistry.allocate(rdma_cm_id.layout(), object);
        path = StructureRegistry.allocate(ibv_sa_path_rec.layout(), this);
        rdma_cm_id.ps(memory, type.portSpace());
        rdma_cm_id.qp_type(memory, type.queuePairType());
        channel(channel);
    }

    MemorySegment memory() {
        return memory;
    }

    void channel(EventChannelObject channel) {
        rdma_cm_id.channel(memory, channel.structure());
    }

    void context(long context) {
        rdma_cm_id.context(memory, MemorySegment.ofAddress(context));
    }

    void name(SocketName name) {
        name.write(rdma_addr.src_storage(address()));
    }

    void peer(SocketName peer) {
        peer.write(rdma_addr.dst_storage(address()));
    }

    private MemorySegment address() {
        return rdma_route.addr(rdma_cm_id.route(memory));
    }

    void device(ConnectionDevice device) {
        rdma_cm_id.verbs(memory, device.context().address());
        rdma_cm_id.port_num(memory, (byte) DeviceLimits.PORT);
        var gids = rdma_addr.addr.ibaddr(rdma_addr.addr(address()));
        GidCodec.write(device.address(), rdma_ib_addr.sgid(gids));
        rdma_ib_addr.pkey(gids, (short) DeviceLimits.DEFAULT_PARTITION_KEY);
    }

    void route(ConnectionDevice device, RoceGid destination, int mtu, int trafficClass) {
        GidCodec.write(
                destination, rdma_ib_addr.dgid(rdma_addr.addr.ibaddr(rdma_addr.addr(address()))));
        GidCodec.write(destination, ibv_sa_path_rec.dgid(path));
        GidCodec.write(device.address(), ibv_sa_path_rec.sgid(path));
        ibv_sa_path_rec.hop_limit(path, (byte) HOP_LIMIT);
        ibv_sa_path_rec.traffic_class(path, (byte) trafficClass);
        ibv_sa_path_rec.reversible(path, 1);
        ibv_sa_path_rec.numb_path(path, (byte) 1);
        ibv_sa_path_rec.pkey(path, (short) DeviceLimits.DEFAULT_PARTITION_KEY);
        ibv_sa_path_rec.mtu(path, (byte) mtu);
        ibv_sa_path_rec.packet_life_time(path, (byte) Connection.PACKET_LIFETIME);
        var route = rdma_cm_id.route(memory);
        rdma_route.path_rec(route, path);
        rdma_route.num_paths(route, 1);
    }

    void release() {
        StructureRegistry.release(path);
        StructureRegistry.release(memory);
    }
}
