package org.jrdma.verbs.model;

/** The transport protocol of a device. In C: {@code enum ibv_transport_type}. */
public enum TransportType {
    /** The InfiniBand transport protocol, over InfiniBand links or, as RoCE, over Ethernet. */
    INFINIBAND,
    /** iWARP: RDMA over TCP. */
    IWARP,
    /** The protocol of Cisco usNIC. */
    USNIC,
    /** The protocol of Cisco usNIC over UDP. */
    USNIC_UDP,
    /** A vendor-specific protocol. */
    UNSPECIFIED,
    /** The kernel does not report the transport protocol. */
    UNKNOWN
}
