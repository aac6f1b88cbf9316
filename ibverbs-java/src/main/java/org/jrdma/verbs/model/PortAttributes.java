package org.jrdma.verbs.model;

/**
 * What a port is and can do. In C: {@code struct ibv_port_attr}.
 *
 * @param port its number, from 1
 * @param state whether it carries traffic
 * @param linkLayer what its packets travel in
 * @param maxMtu the largest payload it is able to
 * @param activeMtu the largest payload of its link as it is now
 * @param gidTableLength the rows of its GID table, most of them unused
 * @param partitionTableLength the rows of its partition table
 * @param maxMessageBytes the longest message
 * @param lid its address in an InfiniBand subnet; 0 on Ethernet
 * @param subnetManagerLid the subnet manager's address
 * @param lidMask how many low bits of the LID it ignores, in C {@code lmc}
 * @param activeWidth the link's width, in C's encoding
 * @param activeSpeed the speed of a lane, in C's encoding; {@code active_speed_ex} where the
 *     library tells it
 * @param physicalState the state of the wire, in C's encoding
 * @param capabilityFlags in C {@code port_cap_flags}
 * @param moreCapabilityFlags in C {@code port_cap_flags2}
 * @param virtualLanes how many virtual lanes, in C's encoding
 * @param badPartitionKeys how many packets came with a partition key of others
 * @param badQueueKeys how many came with a wrong queue key
 * @param subnetManagerServiceLevel the priority of what goes to the subnet manager
 * @param subnetTimeout how long a packet can be under way in the subnet, as an exponent: 4.096 us
 *     times 2 to this
 * @param initialisationReply what the subnet manager did at start, in C's bits
 */
public record PortAttributes(
        int port,
        PortState state,
        LinkLayer linkLayer,
        Mtu maxMtu,
        Mtu activeMtu,
        int gidTableLength,
        int partitionTableLength,
        long maxMessageBytes,
        int lid,
        int subnetManagerLid,
        int lidMask,
        int activeWidth,
        int activeSpeed,
        int physicalState,
        int capabilityFlags,
        int moreCapabilityFlags,
        int virtualLanes,
        int badPartitionKeys,
        int badQueueKeys,
        int subnetManagerServiceLevel,
        int subnetTimeout,
        int initialisationReply) {}
