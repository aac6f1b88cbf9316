package org.jrdma.verbs.flow.model;

/** An option of a flow rule. In C: {@code enum ibv_flow_flags}. */
public enum FlowOption {
    /** Rules of lower priority see the packet too. */
    DO_NOT_TRAP,
    /** The rule is about packets that are sent. */
    EGRESS
}
