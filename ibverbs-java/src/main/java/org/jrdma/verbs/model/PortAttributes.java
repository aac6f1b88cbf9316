package org.jrdma.verbs.model;

import java.time.Duration;

/**
 * The state and properties of a port. In C: {@code struct ibv_port_attr}.
 *
 * @param port the port number, starting at 1
 * @param state the state of the port
 * @param linkLayer the link layer of the port
 * @param maxMtu the maximum MTU that the port supports
 * @param activeMtu the MTU that the port currently uses
 * @param gidTableLength the number of entries in the GID table, including unused entries
 * @param partitionTableLength the number of entries in the partition table, including unused
 *     entries
 * @param maxMessageBytes the maximum length of a message in bytes
 * @param lid the port's address in an InfiniBand subnet; 0 on Ethernet
 * @param subnetManagerLid the LID of the subnet manager
 * @param lidMask the number of low bits of the LID that the port ignores, in C {@code lmc}
 * @param activeWidth the number of lanes of the link, in the encoding of C
 * @param activeSpeed the speed of a lane, in the encoding of C; {@code active_speed_ex} if the
 *     library reports it, otherwise {@code active_speed}
 * @param physicalState the physical state of the link, in the encoding of C
 * @param capabilityFlags the optional features of the port, as a bit mask with the constants of C;
 *     in C {@code port_cap_flags}
 * @param moreCapabilityFlags further optional features of the port, as a bit mask with the
 *     constants of C; in C {@code port_cap_flags2}
 * @param virtualLanes the number of virtual lanes, in the encoding of C
 * @param badPartitionKeys the number of packets that the port received with a partition key that is
 *     not in its partition table
 * @param badQueueKeys the number of packets that the port received with a wrong queue key
 * @param subnetManagerServiceLevel the service level of packets to the subnet manager
 * @param subnetTimeout the maximum transit time of a packet in the subnet
 * @param initializationReply the type of initialization that the subnet manager performed, in the
 *     encoding of C
 */
public record PortAttributes(
        int port,
        State state,
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
        Duration subnetTimeout,
        int initializationReply) {

    /**
     * The logical state of a port. In C: {@code enum ibv_port_state}, {@code ibv_port_state_str}.
     */
    public enum State {
        /** A constant of C that means "no state change". No port reports this state. */
        NOP,
        /** The port has no link. */
        DOWN,
        /** The link is up, but no subnet manager has configured the port yet. */
        INITIALIZING,
        /** The port is configured and about to become active. */
        ARMED,
        /** The port is active: it can send and receive data. */
        ACTIVE,
        /** The port is active while its link is retrained. */
        ACTIVE_DEFER,
        /** A state that this version of the SDK does not know. */
        UNKNOWN
    }
}
