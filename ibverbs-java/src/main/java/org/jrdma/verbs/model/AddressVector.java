package org.jrdma.verbs.model;

import java.util.Optional;
import org.jrdma.ffi.linkage.FieldRangeChecks;

/**
 * The path to the port of a peer or to a multicast group. In C: {@code struct ibv_ah_attr}.
 *
 * @param port the number of the local port, starting at 1; 0 in the attributes of a queue pair that
 *     has no port yet
 * @param lid the peer's address in an InfiniBand subnet; 0 on RoCE
 * @param serviceLevel the priority within an InfiniBand subnet, 0 to 15
 * @param sourcePathBits the low bits of the local LID, for a port with several LIDs
 * @param staticRate the maximum sending rate
 * @param route the route by GIDs, which is required beyond the subnet and on RoCE
 */
public record AddressVector(
        int port,
        int lid,
        int serviceLevel,
        int sourcePathBits,
        StaticRate staticRate,
        Optional<GlobalRoute> route) {

    /** Checks that the values fit their fields in C. */
    public AddressVector {
        FieldRangeChecks.check("port", port, 0, 255);
        FieldRangeChecks.check("LID", lid, 0, 0xffff);
        FieldRangeChecks.check("service level", serviceLevel, 0, 15);
        FieldRangeChecks.check("source path bits", sourcePathBits, 0, 127);
    }

    /** Returns a copy with the given port. */
    public AddressVector withPort(int otherPort) {
        return new AddressVector(otherPort, lid, serviceLevel, sourcePathBits, staticRate, route);
    }

    /** Returns a copy with the given maximum sending rate. */
    public AddressVector withStaticRate(StaticRate rate) {
        return new AddressVector(port, lid, serviceLevel, sourcePathBits, rate, route);
    }

    /** Returns a copy with the given priority in the subnet. */
    public AddressVector withServiceLevel(int level) {
        return new AddressVector(port, lid, level, sourcePathBits, staticRate, route);
    }

    /**
     * A route by GIDs, which can lead beyond the subnet. In C: {@code struct ibv_global_route}.
     *
     * @param destination the peer's GID
     * @param sourceGidIndex the index of the source GID in the local GID table
     * @param flowLabel a 20-bit hint to routers
     * @param hopLimit the maximum number of routers on the path
     * @param trafficClass the priority, which corresponds to the type of service in IP
     */
    public record GlobalRoute(
            Gid destination, int sourceGidIndex, int flowLabel, int hopLimit, int trafficClass) {

        /** Checks that the values fit their fields in C. */
        public GlobalRoute {
            FieldRangeChecks.check("GID index", sourceGidIndex, 0, 255);
            FieldRangeChecks.check("flow label", flowLabel, 0, 0xfffff);
            FieldRangeChecks.check("hop limit", hopLimit, 0, 255);
            FieldRangeChecks.check("traffic class", trafficClass, 0, 255);
        }

        /**
         * The UDP source port of RoCE v2 packets on this route, by which routers distinguish flows.
         * The result is correct for devices that compute the port from the flow label as the
         * specification recommends. In C: {@code ibv_flow_label_to_udp_sport}.
         */
        public int udpSourcePort() {
            return 0xc000 | ((flowLabel & 0x3fff) ^ (flowLabel >>> 14));
        }
    }
}
