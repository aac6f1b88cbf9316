package org.jrdma.verbs.cm;

import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.Mtu;

/**
 * A way through the fabric, as a subnet manager gives it, or as the kernel makes it up for RoCE. In
 * C: {@code struct ibv_sa_path_rec}.
 *
 * @param source the local port's GID
 * @param destination the peer's GID
 * @param sourceLid the local port's address in its subnet; 0 on RoCE
 * @param destinationLid the peer's address in its subnet; 0 on RoCE
 * @param mtu the largest payload of a packet
 * @param serviceLevel the priority in an InfiniBand subnet
 * @param trafficClass the priority beyond the subnet, as in IP's type of service
 * @param flowLabel a hint to routers
 * @param hopLimit how many routers may be passed
 * @param partitionKey which partition it is in
 * @param packetLifetime how long a packet takes at most: 4.096 us times 2 to this
 */
public record PathRecord(
        Gid source,
        Gid destination,
        int sourceLid,
        int destinationLid,
        Mtu mtu,
        int serviceLevel,
        int trafficClass,
        int flowLabel,
        int hopLimit,
        int partitionKey,
        int packetLifetime) {}
