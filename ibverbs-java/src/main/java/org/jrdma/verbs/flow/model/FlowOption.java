package org.jrdma.verbs.flow.model;

/** An option of a flow rule. In C: {@code enum ibv_flow_flags}. */
public enum FlowOption {
    /** The device also applies rules of lower priority to the packets that match the rule. */
    DO_NOT_TRAP,
    /** The rule applies to outgoing packets instead of incoming packets. */
    EGRESS
}
