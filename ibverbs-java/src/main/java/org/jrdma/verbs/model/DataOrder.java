package org.jrdma.verbs.model;

/**
 * A guarantee about the order in which the bytes of an operation are written to memory. In C:
 * {@code enum ibv_query_qp_data_in_order_caps}.
 */
public enum DataOrder {
    /** The bytes of the whole message are written in order, from the first to the last. */
    WHOLE_MESSAGE,
    /**
     * Within each block of 128 bytes that is aligned to 128 bytes, the bytes are written in order,
     * from the first to the last. The order of the blocks is not guaranteed.
     */
    ALIGNED_128_BYTES
}
