package org.jrdma.verbs.cm.model;

import java.time.Duration;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.Mtu;

/**
 * A path through the fabric, as reported by a subnet manager or, for RoCE, derived by the kernel.
 * In C: {@code struct ibv_sa_path_rec}.
 *
 * @param source the GID of the local port
 * @param destination the GID of the destination port
 * @param sourceLid the LID of the local port; 0 on RoCE
 * @param destinationLid the LID of the destination port; 0 on RoCE
 * @param mtu the path MTU
 * @param serviceLevel the service level, which is the priority in an InfiniBand subnet
 * @param trafficClass the traffic class, which is the priority beyond the subnet, like the IP type
 *     of service
 * @param flowLabel the flow label, which is a 20-bit hint to routers
 * @param hopLimit the maximum number of routers that a packet can pass
 * @param partitionKey the P_Key of the path
 * @param packetLifetime the maximum lifetime of a packet on the path
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
