package org.jrdma.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jrdma.abi.rdma.ibv_ah_attr;
import org.jrdma.abi.rdma.ibv_global_route;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.StaticRate;

/** Converts between {@link ibv_ah_attr} and {@link AddressVector}. */
final class AddressVectorCodec {

    private AddressVectorCodec() {}

    /** Writes an address vector to a structure whose bytes are all zero. */
    static void write(MemorySegment attr, AddressVector address) {
        ibv_ah_attr.dlid(attr, (short) address.lid());
        ibv_ah_attr.sl(attr, (byte) address.serviceLevel());
        ibv_ah_attr.src_path_bits(attr, (byte) address.sourcePathBits());
        ibv_ah_attr.static_rate(attr, (byte) rate(address.staticRate()));
        ibv_ah_attr.port_num(attr, (byte) address.port());
        address.route()
                .ifPresent(route -> {
                    ibv_ah_attr.is_global(attr, (byte) 1);
                    var grh = ibv_ah_attr.grh(attr);
                    writeGid(ibv_global_route.dgid(grh), route.destination());
                    ibv_global_route.flow_label(grh, route.flowLabel());
                    ibv_global_route.sgid_index(grh, (byte) route.sourceGidIndex());
                    ibv_global_route.hop_limit(grh, (byte) route.hopLimit());
                    ibv_global_route.traffic_class(grh, (byte) route.trafficClass());
                });
    }

    /**
     * Returns the code of a rate. {@link StaticRate#UNKNOWN} is written as unlimited: a newer
     * kernel may have reported a code for an existing path that the SDK does not know.
     */
    private static int rate(StaticRate rate) {
        return VerbsEnumCodes.STATIC_RATE.code(
                rate == StaticRate.UNKNOWN ? StaticRate.UNLIMITED : rate);
    }

    /**
     * Reads an address vector. Only the bits that a value can have are used, because some drivers
     * do not initialize all fields.
     */
    static AddressVector read(MemorySegment attr) {
        var grh = ibv_ah_attr.grh(attr);
        var route =
                new AddressVector.GlobalRoute(
                        readGid(ibv_global_route.dgid(grh)),
                        Byte.toUnsignedInt(ibv_global_route.sgid_index(grh)),
                        ibv_global_route.flow_label(grh) & 0xfffff,
                        Byte.toUnsignedInt(ibv_global_route.hop_limit(grh)),
                        Byte.toUnsignedInt(ibv_global_route.traffic_class(grh)));
        return new AddressVector(
                Byte.toUnsignedInt(ibv_ah_attr.port_num(attr)),
                Short.toUnsignedInt(ibv_ah_attr.dlid(attr)),
                ibv_ah_attr.sl(attr) & 0xf,
                ibv_ah_attr.src_path_bits(attr) & 0x7f,
                VerbsEnumCodes.STATIC_RATE.of(Byte.toUnsignedInt(ibv_ah_attr.static_rate(attr))),
                ibv_ah_attr.is_global(attr) == 0 ? Optional.empty() : Optional.of(route));
    }

    static Gid readGid(MemorySegment segment) {
        return new Gid(BigEndian.getLong(segment, 0), BigEndian.getLong(segment, Long.BYTES));
    }

    static void writeGid(MemorySegment segment, Gid gid) {
        BigEndian.setLong(segment, 0, gid.prefix());
        BigEndian.setLong(segment, Long.BYTES, gid.interfaceId());
    }
}
