package org.jrdma.verbs.flow.model;

/**
 * A quantity that a counter of {@link org.jrdma.verbs.flow.FlowCounters} can count. In C: {@code
 * enum ibv_counter_description}.
 */
public enum FlowQuantity {
    /** The number of packets. */
    PACKETS,
    /** The number of bytes in the packets. */
    BYTES
}
