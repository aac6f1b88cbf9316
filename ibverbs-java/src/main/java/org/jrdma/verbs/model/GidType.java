package org.jrdma.verbs.model;

/** What packets look like that are sent from a GID. In C: {@code enum ibv_gid_type}. */
public enum GidType {
    /** InfiniBand. */
    INFINIBAND,
    /** RoCE version 1: Ethernet frames, which no router forwards. */
    ROCE_V1,
    /** RoCE version 2: UDP datagrams to port 4791. */
    ROCE_V2,
    /** The library is too old to tell, and the kernel does not either. */
    UNKNOWN
}
