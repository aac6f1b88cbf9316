package org.jrdma.verbs.model;

/**
 * The format of the packets that are sent with a GID as their source address. In C: {@code enum
 * ibv_gid_type}.
 */
public enum GidType {
    /** InfiniBand packets. */
    INFINIBAND,
    /** RoCE version 1: Ethernet frames without an IP header, which routers do not forward. */
    ROCE_V1,
    /** RoCE version 2: UDP datagrams to port 4791. */
    ROCE_V2,
    /**
     * An unknown format: the library is too old to report the type, and the kernel does not report
     * it in sysfs.
     */
    UNKNOWN
}
