package org.jrdma.verbs.flow.model;

/** What flow counters can count. In C: {@code enum ibv_counter_description}. */
public enum FlowQuantity {
    /** Packets. */
    PACKETS,
    /** Bytes of packets. */
    BYTES
}
