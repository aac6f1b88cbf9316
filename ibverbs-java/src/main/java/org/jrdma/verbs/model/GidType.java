package org.jrdma.verbs.model;

/** The format of packets sent from a GID. In C: {@code enum ibv_gid_type}. */
public enum GidType {
    /** InfiniBand. */
    INFINIBAND,
    /** RoCE version 1: Ethernet frames, which routers do not forward. */
    ROCE_V1,
    /** RoCE version 2: UDP datagrams to port 4791. */
    ROCE_V2,
    /** Unknown: the library is too old to report the type, and the kernel does not report it. */
    UNKNOWN
}
