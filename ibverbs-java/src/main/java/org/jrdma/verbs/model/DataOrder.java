package org.jrdma.verbs.model;

/**
 * In which order the bytes of an operation reach memory. In C: {@code enum
 * ibv_query_qp_data_in_order_caps}.
 */
public enum DataOrder {
    /** The whole message from its first byte to its last. */
    WHOLE_MESSAGE,
    /** Each 128 bytes that begin at a multiple of 128 from their first to their last. */
    ALIGNED_128_BYTES
}
