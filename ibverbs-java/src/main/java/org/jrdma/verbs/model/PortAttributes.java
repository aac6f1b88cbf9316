package org.jrdma.verbs.model;

/**
 * The state and properties of a port. In C: {@code struct ibv_port_attr}.
 *
 * @param port the port number, from 1
 * @param state the state of the port
 * @param linkLayer the link layer
 * @param maxMtu the maximum MTU that the port supports
 * @param activeMtu the MTU of the link in its present configuration
 * @param gidTableLength the number of entries of the GID table, most of them unused
 * @param partitionTableLength the number of entries of the partition table
 * @param maxMessageBytes the maximum length of a message
 * @param lid the port's address in an InfiniBand subnet; 0 on Ethernet
 * @param subnetManagerLid the address of the subnet manager
 * @param lidMask the number of low bits of the LID that the port ignores, in C {@code lmc}
 * @param activeWidth the link width, in C's encoding
 * @param activeSpeed the speed of a lane, in C's encoding; {@code active_speed_ex} if the library
 *     reports it
 * @param physicalState the physical state of the link, in C's encoding
 * @param capabilityFlags the port's features, in C {@code port_cap_flags}
 * @param moreCapabilityFlags further features, in C {@code port_cap_flags2}
 * @param virtualLanes the number of virtual lanes, in C's encoding
 * @param badPartitionKeys the number of packets received with a partition key that the port does
 *     not have
 * @param badQueueKeys the number of packets received with a wrong queue key
 * @param subnetManagerServiceLevel the priority of packets to the subnet manager
 * @param subnetTimeout the maximum transit time of a packet in the subnet, as an exponent: 4.096 us
 *     times 2 to this
 * @param initializationReply the initialization that the subnet manager performed, in C's bits
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
        int initializationReply) {}
