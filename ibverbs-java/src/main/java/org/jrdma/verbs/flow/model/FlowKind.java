package org.jrdma.verbs.flow.model;

/** The kind of a flow rule. In C: {@code enum ibv_flow_attr_type}. */
public enum FlowKind {
    /** Packets whose headers match the layers of the rule. */
    MATCHING,
    /** Packets that match no rule of another queue pair. */
    ALL_OTHERS,
    /** Multicast packets that match no rule of another queue pair. */
    OTHER_MULTICAST,
    /** A copy of every packet of the port. */
    SNIFFER
}
