package org.jrdma.sisci.model;

/**
 * What became of the stores of a {@link org.jrdma.sisci.Sequence}. In C: {@code
 * sci_sequence_status_t}.
 */
public enum SequenceStatus {
    /** They arrived. */
    OK,
    /** Some did not; store them again, at once. */
    RETRIABLE,
    /**
     * Some did not, and will not before {@link org.jrdma.sisci.Sequence#start()} is OK; then store
     * them again.
     */
    NOT_RETRIABLE,
    /** Not known yet; {@link org.jrdma.sisci.Sequence#start()} tells when it is. */
    PENDING
}
