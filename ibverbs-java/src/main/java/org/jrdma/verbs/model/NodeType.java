package org.jrdma.verbs.model;

/**
 * What kind of node a device makes of this machine. In C: {@code enum ibv_node_type}, {@code
 * ibv_node_type_str}.
 */
public enum NodeType {
    /** An adapter that speaks InfiniBand or RoCE. */
    CHANNEL_ADAPTER,
    /** A switch. */
    SWITCH,
    /** A router. */
    ROUTER,
    /** An adapter that speaks iWARP. */
    RNIC,
    /** A Cisco usNIC. */
    USNIC,
    /** A Cisco usNIC over UDP. */
    USNIC_UDP,
    /** A kind of its own, as of a vendor's cloud. */
    UNSPECIFIED,
    /** The kernel does not tell. */
    UNKNOWN
}
