package org.jrdma.verbs.model;

import java.util.Optional;
import org.jrdma.ffi.linkage.FieldRange;

/**
 * The way to a peer. In C: {@code struct ibv_ah_attr}.
 *
 * @param port the local port, from 1; 0 in the answer about a queue pair that has none yet
 * @param lid the peer's address in an InfiniBand subnet; 0 on RoCE
 * @param serviceLevel the priority in the subnet, 0 to 15
 * @param sourcePathBits the low bits of the local LID
 * @param staticRate how fast to send at most
 * @param route the way beyond the subnet; always there on RoCE
 */
public record AddressVector(
        int port,
        int lid,
        int serviceLevel,
        int sourcePathBits,
        StaticRate staticRate,
        Optional<GlobalRoute> route) {

    /** Refuses what does not fit its field. */
    public AddressVector {
        FieldRange.check("port", port, 0, 255);
        FieldRange.check("LID", lid, 0, 0xffff);
        FieldRange.check("service level", serviceLevel, 0, 15);
        FieldRange.check("source path bits", sourcePathBits, 0, 127);
    }

    /** The same way, from another port. */
    public AddressVector withPort(int otherPort) {
        return new AddressVector(otherPort, lid, serviceLevel, sourcePathBits, staticRate, route);
    }

    /** The same way, less fast. */
    public AddressVector withStaticRate(StaticRate rate) {
        return new AddressVector(port, lid, serviceLevel, sourcePathBits, rate, route);
    }

    /** The same way, with another priority in the subnet. */
    public AddressVector withServiceLevel(int level) {
        return new AddressVector(port, lid, level, sourcePathBits, staticRate, route);
    }

    /**
     * The way beyond a subnet. In C: {@code struct ibv_global_route}.
     *
     * @param destination the peer's GID
     * @param sourceGidIndex the local row of the GID table to send from
     * @param flowLabel a hint to routers, 20 bits
     * @param hopLimit how many routers may be passed
     * @param trafficClass the priority, as in IP's type of service
     */
    public record GlobalRoute(
            Gid destination, int sourceGidIndex, int flowLabel, int hopLimit, int trafficClass) {

        /** Refuses what does not fit its field. */
        public GlobalRoute {
            FieldRange.check("GID index", sourceGidIndex, 0, 255);
            FieldRange.check("flow label", flowLabel, 0, 0xfffff);
            FieldRange.check("hop limit", hopLimit, 0, 255);
            FieldRange.check("traffic class", trafficClass, 0, 255);
        }

        /**
         * The source port of RoCE v2's UDP packets that routers tell this flow label's from others
         * by, if the device follows the specification's advice. In C: {@code
         * ibv_flow_label_to_udp_sport}.
         */
        public int udpSourcePort() {
            return 0xc000 | ((flowLabel & 0x3fff) ^ (flowLabel >>> 14));
        }
    }
}
