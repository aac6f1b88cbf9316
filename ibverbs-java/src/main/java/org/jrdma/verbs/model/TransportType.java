package org.jrdma.verbs.model;

/** The transport protocol of a device. In C: {@code enum ibv_transport_type}. */
public enum TransportType {
    /** InfiniBand's transport, over InfiniBand links or over Ethernet as RoCE. */
    INFINIBAND,
    /** RDMA over TCP. */
    IWARP,
    /** A Cisco protocol. */
    USNIC,
    /** A Cisco protocol over UDP. */
    USNIC_UDP,
    /** A vendor-specific protocol. */
    UNSPECIFIED,
    /** The kernel does not report the protocol. */
    UNKNOWN
}
