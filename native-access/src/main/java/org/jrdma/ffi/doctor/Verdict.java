package org.jrdma.ffi.doctor;

/** The severity of a finding. */
public enum Verdict {
    /** The subject is configured well. */
    FINE,
    /** The subject works but may cause problems. */
    DOUBTFUL,
    /** The subject does not work. */
    BROKEN,
    /** The subject is not present, which is not an error. */
    ABSENT,
    /** The subject could not be checked. */
    UNKNOWN
}
