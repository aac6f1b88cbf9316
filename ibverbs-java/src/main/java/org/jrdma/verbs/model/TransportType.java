package org.jrdma.verbs.model;

/** What a device speaks. In C: {@code enum ibv_transport_type}. */
public enum TransportType {
    /** InfiniBand's transport: over its own links, or over Ethernet as RoCE. */
    INFINIBAND,
    /** RDMA over TCP. */
    IWARP,
    /** Cisco's own. */
    USNIC,
    /** Cisco's own, over UDP. */
    USNIC_UDP,
    /** A vendor's own. */
    UNSPECIFIED,
    /** The kernel does not tell. */
    UNKNOWN
}
