package org.jrdma.verbs.flow.model;

/** The kind of a flow rule. In C: {@code enum ibv_flow_attr_type}. */
public enum FlowKind {
    /** Packets whose headers match the rule's layers. */
    MATCHING,
    /** Packets that no rule of another queue pair takes. */
    ALL_OTHERS,
    /** Multicast packets that no rule of another queue pair takes. */
    OTHER_MULTICAST,
    /** A copy of every packet of the port. */
    SNIFFER
}
