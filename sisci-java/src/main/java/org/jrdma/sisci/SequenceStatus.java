package org.jrdma.sisci;

/** What became of the stores of a {@link Sequence}. In C: {@code sci_sequence_status_t}. */
public enum SequenceStatus {
    /** They arrived. */
    OK,
    /** Some did not; store them again, at once. */
    RETRIABLE,
    /** Some did not, and will not before {@link Sequence#start()} is OK; then store them again. */
    NOT_RETRIABLE,
    /** Not known yet; {@link Sequence#start()} tells when it is. */
    PENDING;

    private static final SequenceStatus[] VALUES = values();

    /** The constants stand in the order of C's numbers, 0 to 3; a test holds them to it. */
    static SequenceStatus of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw new IllegalStateException("No status of a sequence has the number " + code);
        }
        return VALUES[code];
    }
}
