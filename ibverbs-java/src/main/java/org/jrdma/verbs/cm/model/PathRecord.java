package org.jrdma.verbs.cm.model;

import java.time.Duration;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.Mtu;

/**
 * A path through the fabric, as a subnet manager reports it, or as the kernel derives it for RoCE.
 * In C: {@code struct ibv_sa_path_rec}.
 *
 * @param source the local port's GID
 * @param destination the peer's GID
 * @param sourceLid the local port's address in its subnet; 0 on RoCE
 * @param destinationLid the peer's address in its subnet; 0 on RoCE
 * @param mtu the largest payload of a packet
 * @param serviceLevel the priority in an InfiniBand subnet
 * @param trafficClass the priority beyond the subnet, as in IP's type of service
 * @param flowLabel a hint to routers
 * @param hopLimit the largest number of routers that a packet may pass
 * @param partitionKey the key of the path's partition
 * @param packetLifetime the longest time that a packet takes
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
        Duration packetLifetime) {}
