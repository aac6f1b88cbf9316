package org.jrdma.verbs.model;

/** The link layer of a port. In C: {@code IBV_LINK_LAYER_*}. */
public enum LinkLayer {
    /** The kernel does not report the link layer. In this case the port is an InfiniBand port. */
    UNSPECIFIED,
    /** InfiniBand links. */
    INFINIBAND,
    /** Ethernet: RoCE or iWARP. */
    ETHERNET
}
