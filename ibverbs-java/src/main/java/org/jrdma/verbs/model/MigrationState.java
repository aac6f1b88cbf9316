package org.jrdma.verbs.model;

/** The path migration state of a queue pair. In C: {@code enum ibv_mig_state}. */
public enum MigrationState {
    /** The queue pair uses only its current path. It does not switch to the alternate path. */
    MIGRATED,
    /** The queue pair waits for the peer, so that both sides arm the alternate path. */
    REARM,
    /** The queue pair switches to the alternate path if the current path fails. */
    ARMED,
    /** A value that this version of the SDK does not know. */
    UNKNOWN
}
