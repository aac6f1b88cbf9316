package org.jrdma.verbs.cm.model;

/** The role of a member of a multicast group. In C: {@code enum rdma_cm_mc_join_flags}. */
public enum MulticastRole {
    /** Sends and receives. In C: {@code RDMA_MC_JOIN_FLAG_FULLMEMBER}. */
    FULL_MEMBER,
    /** Only sends. In C: {@code RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}. */
    SENDER
}
