package org.jrdma.verbs.model;

/** The guarantee that a flush gives for preceding writes. In C: {@code enum ibv_placement_type}. */
public enum FlushPlacement {
    /** The data is visible to everything in the peer's machine. */
    GLOBAL,
    /** The data survives a loss of power. */
    PERSISTENT
}
