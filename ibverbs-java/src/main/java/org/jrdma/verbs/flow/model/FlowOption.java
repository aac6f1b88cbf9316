package org.jrdma.verbs.flow.model;

/** An option of a flow rule. In C: {@code enum ibv_flow_flags}. */
public enum FlowOption {
    /** Packets that match the rule are also matched against rules of lower priority. */
    DO_NOT_TRAP,
    /** The rule applies to outgoing packets. */
    EGRESS
}
