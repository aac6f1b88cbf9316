package org.jrdma.verbs.flow.model;

/** A quantity that flow counters can count. In C: {@code enum ibv_counter_description}. */
public enum FlowQuantity {
    /** The number of packets. */
    PACKETS,
    /** The number of bytes in packets. */
    BYTES
}
