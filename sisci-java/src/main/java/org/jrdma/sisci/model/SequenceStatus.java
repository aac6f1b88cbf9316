package org.jrdma.sisci.model;

/**
 * The status of the stores of a {@link org.jrdma.sisci.Sequence}. In C: {@code
 * sci_sequence_status_t}.
 */
public enum SequenceStatus {
    /** All stores have arrived. */
    OK,
    /** Some stores are lost: store the data again. */
    RETRIABLE,
    /**
     * Some stores are lost: store the data again after {@link org.jrdma.sisci.Sequence#start()} has
     * returned OK.
     */
    NOT_RETRIABLE,
    /** The status is not known yet: call {@link org.jrdma.sisci.Sequence#start()}. */
    PENDING
}
