package org.jrdma.verbs;

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
 * @param activeSpeed the speed of a lane, in C's encoding
 * @param physicalState the state of the wire, in C's encoding
 * @param capabilityFlags in C {@code port_cap_flags}
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
        int capabilityFlags) {}
