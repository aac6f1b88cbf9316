package org.jrdma.verbs.model;

/** Which of a queue pair's two paths is used. In C: {@code enum ibv_mig_state}. */
public enum MigrationState {
    /** The path now used is the only one. */
    MIGRATED,
    /** The other path is to be armed. */
    REARM,
    /** The other path takes over when this one fails. */
    ARMED,
    /** A number that this version does not know. */
    UNKNOWN
}
