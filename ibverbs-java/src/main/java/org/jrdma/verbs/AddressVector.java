package org.jrdma.verbs;

import java.util.Optional;

/**
 * The way to a peer. In C: {@code struct ibv_ah_attr}.
 *
 * @param port the local port, from 1
 * @param lid the peer's address in an InfiniBand subnet; 0 on RoCE
 * @param serviceLevel the priority in the subnet, 0 to 15
 * @param sourcePathBits the low bits of the local LID
 * @param staticRate the most to send, in C's encoding; 0 for no limit
 * @param route the way beyond the subnet; always there on RoCE
 */
public record AddressVector(
        int port,
        int lid,
        int serviceLevel,
        int sourcePathBits,
        int staticRate,
        Optional<GlobalRoute> route) {

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
            Gid destination, int sourceGidIndex, int flowLabel, int hopLimit, int trafficClass) {}
}
