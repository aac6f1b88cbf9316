package org.jrdma.verbs.model;

/** The link layer of a port. In C: {@code IBV_LINK_LAYER_*}. */
public enum LinkLayer {
    /** The kernel does not report the link layer, which means InfiniBand. */
    UNSPECIFIED,
    /** InfiniBand's own links. */
    INFINIBAND,
    /** Ethernet: RoCE or iWARP. */
    ETHERNET
}
