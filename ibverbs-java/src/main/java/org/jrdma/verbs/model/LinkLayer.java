package org.jrdma.verbs.model;

/** What a port's packets travel in. In C: {@code IBV_LINK_LAYER_*}. */
public enum LinkLayer {
    /** The kernel does not tell; InfiniBand then. */
    UNSPECIFIED,
    /** InfiniBand's own links. */
    INFINIBAND,
    /** Ethernet: RoCE or iWARP. */
    ETHERNET
}
