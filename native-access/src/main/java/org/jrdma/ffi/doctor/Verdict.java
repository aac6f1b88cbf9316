package org.jrdma.ffi.doctor;

/** What a finding means. */
public enum Verdict {
    /** As it should be. */
    FINE,
    /** Works, and may disappoint. */
    DOUBTFUL,
    /** Does not work. */
    BROKEN,
    /** Is not there, and need not be. */
    ABSENT,
    /** Cannot be seen from here. */
    HIDDEN
}
