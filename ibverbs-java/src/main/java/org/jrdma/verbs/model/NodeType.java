package org.jrdma.verbs.model;

/**
 * The kind of node that a device is in its network. In C: {@code enum ibv_node_type}, {@code
 * ibv_node_type_str}.
 */
public enum NodeType {
    /** An InfiniBand or RoCE adapter. */
    CHANNEL_ADAPTER,
    /** A switch. */
    SWITCH,
    /** A router. */
    ROUTER,
    /** An iWARP adapter. */
    RNIC,
    /** A Cisco usNIC. */
    USNIC,
    /** A Cisco usNIC over UDP. */
    USNIC_UDP,
    /** A vendor-specific kind of node, such as the adapter of a cloud provider. */
    UNSPECIFIED,
    /** The kernel does not report the kind of node. */
    UNKNOWN
}
