package org.jrdma.verbs.cm.model;

/** The role of a member of a multicast group. In C: {@code enum rdma_cm_mc_join_flags}. */
public enum MulticastRole {
    /**
     * The member sends to the group and receives from it. In C: {@code
     * RDMA_MC_JOIN_FLAG_FULLMEMBER}.
     */
    FULL_MEMBER,
    /** The member only sends to the group. In C: {@code RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}. */
    SENDER
}
