package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_ah_attr;
import org.jrdma.abi.rdma.ibv_global_route;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.PacketBuffer;

/**
 * Reads and writes GIDs in native memory, where a GID consists of 16 bytes in network byte order.
 */
public final class GidCodec {

    private GidCodec() {}

    public static RoceGid read(MemorySegment gid) {
        return new RoceGid(BigEndian.longInteger(gid, 0), BigEndian.longInteger(gid, Long.BYTES));
    }

    public static void write(RoceGid address, MemorySegment gid) {
        BigEndian.putLongInteger(gid, 0, address.high());
        BigEndian.putLongInteger(gid, Long.BYTES, address.low());
    }

    /**
     * Returns the traffic class and flow label of an {@code ibv_ah_attr}, combined in the format of
     * {@link PacketBuffer#flow}.
     */
    public static int flow(MemorySegment attributes) {
        var route = ibv_ah_attr.grh(attributes);
        return Byte.toUnsignedInt(ibv_global_route.traffic_class(route)) << PacketBuffer.CLASS_SHIFT
                | (ibv_global_route.flow_label(route) & PacketBuffer.LABEL_MASK);
    }

    /**
     * Returns the destination GID of an {@code ibv_ah_attr}.
     *
     * @throws ErrnoException with {@code EINVAL} if the attributes have no global route, or name a
     *     port or a source GID index that the device does not have
     */
    public static RoceGid destination(MemorySegment attributes) {
        var route = ibv_ah_attr.grh(attributes);
        ErrnoException.throwIf(
                ibv_ah_attr.is_global(attributes) == 0
                        || ibv_ah_attr.port_num(attributes) != DeviceLimits.PORT
                        || ibv_global_route.sgid_index(route) != 0,
                Errno.EINVAL);
        return read(ibv_global_route.dgid(route));
    }
}
