package org.jrdma.verbs.flow.model;

/**
 * The kind of a flow rule, which determines the packets that the rule selects. In C: {@code enum
 * ibv_flow_attr_type}.
 */
public enum FlowKind {
    /** Selects the packets whose headers match the layers of the rule. */
    MATCHING,
    /** Selects all packets that match no rule of another queue pair. */
    ALL_OTHERS,
    /** Selects the multicast packets that match no rule of another queue pair. */
    OTHER_MULTICAST,
    /** Selects a copy of every packet of the port. */
    SNIFFER
}
