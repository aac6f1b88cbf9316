package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.Downcalls.memoryAt;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_device;
import org.jrdma.abi.rdma.ibv_sa_path_rec;
import org.jrdma.abi.rdma.rdma_addr;
import org.jrdma.abi.rdma.rdma_cm_id;
import org.jrdma.abi.rdma.rdma_route;
import org.jrdma.verbs.cm.model.PathRecord;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.TransportType;

/** Reads the fields of a {@code struct rdma_cm_id}. */
public final class IdentifierReader {

    private IdentifierReader() {}

    /** Returns the local address; empty before the {@code rdma_cm_id} is bound. */
    public static Optional<InetSocketAddress> local(MemorySegment identifier) {
        return SocketAddresses.read(rdma_addr.src_storage(address(identifier)));
    }

    /** Returns the peer's address; empty before the address is known, and for a listener. */
    public static Optional<InetSocketAddress> peer(MemorySegment identifier) {
        return SocketAddresses.read(rdma_addr.dst_storage(address(identifier)))
                // The peer's address of a listener is all zeros.
                .filter(peer -> peer.getPort() != 0);
    }

    private static MemorySegment address(MemorySegment identifier) {
        return rdma_route.addr(rdma_cm_id.route(identifier));
    }

    public static QueuePairType type(MemorySegment identifier) {
        return VerbsEnumCodes.QUEUE_PAIR_TYPE.of(rdma_cm_id.qp_type(identifier));
    }

    /**
     * The device that an {@code rdma_cm_id} is bound to.
     *
     * @param port the number of the device's port
     */
    public record BoundDevice(String name, int port, TransportType transport) {}

    /** Returns the device that the {@code rdma_cm_id} is bound to; empty if it is not bound. */
    public static Optional<BoundDevice> device(MemorySegment identifier) {
        var verbs = rdma_cm_id.verbs(identifier);
        if (verbs.address() == 0) {
            return Optional.empty();
        }
        var context = memoryAt(verbs, ibv_context.layout().byteSize());
        var device = memoryAt(ibv_context.device(context), ibv_device.layout().byteSize());
        return Optional.of(
                new BoundDevice(
                        ibv_device.name(device).getString(0),
                        Byte.toUnsignedInt(rdma_cm_id.port_num(identifier)),
                        VerbsEnumCodes.TRANSPORT_TYPE.of(ibv_device.transport_type(device))));
    }

    /** Returns the paths to the peer. Empty before a route is resolved. */
    public static List<PathRecord> paths(MemorySegment identifier) {
        var route = rdma_cm_id.route(identifier);
        var count = rdma_route.num_paths(route);
        var records =
                memoryAt(rdma_route.path_rec(route), count * ibv_sa_path_rec.layout().byteSize());
        var paths = new ArrayList<PathRecord>();
        for (var index = 0; index < count; index++) {
            var path = ibv_sa_path_rec.asSlice(records, index);
            paths.add(
                    new PathRecord(
                            AddressVectorCodec.readGid(ibv_sa_path_rec.sgid(path)),
                            AddressVectorCodec.readGid(ibv_sa_path_rec.dgid(path)),
                            BigEndian.getShort(path, ibv_sa_path_rec.slid$offset()),
                            BigEndian.getShort(path, ibv_sa_path_rec.dlid$offset()),
                            VerbsEnumCodes.MTU.of(ibv_sa_path_rec.mtu(path)),
                            Byte.toUnsignedInt(ibv_sa_path_rec.sl(path)),
                            Byte.toUnsignedInt(ibv_sa_path_rec.traffic_class(path)),
                            BigEndian.toNative(ibv_sa_path_rec.flow_label(path)),
                            Byte.toUnsignedInt(ibv_sa_path_rec.hop_limit(path)),
                            BigEndian.getShort(path, ibv_sa_path_rec.pkey$offset()),
                            DurationCodes.exponential(
                                    ibv_sa_path_rec.packet_life_time(path) & 0x3f)));
        }
        return List.copyOf(paths);
    }
}
