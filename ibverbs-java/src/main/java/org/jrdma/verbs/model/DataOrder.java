package org.jrdma.verbs.model;

/**
 * The order in which the bytes of an operation reach memory. In C: {@code enum
 * ibv_query_qp_data_in_order_caps}.
 */
public enum DataOrder {
    /** The whole message, from its first byte to its last. */
    WHOLE_MESSAGE,
    /** Each block of 128 bytes that is aligned to 128 bytes, from its first byte to its last. */
    ALIGNED_128_BYTES
}
