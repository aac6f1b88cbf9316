package org.jrdma.verbs.model;

/** The path migration state of a queue pair. In C: {@code enum ibv_mig_state}. */
public enum MigrationState {
    /** The queue pair uses its current path only. */
    MIGRATED,
    /** The alternate path is to be armed. */
    REARM,
    /** The queue pair switches to the alternate path if the current path fails. */
    ARMED,
    /** A value that this version does not know. */
    UNKNOWN
}
