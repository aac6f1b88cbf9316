package org.jrdma.verbs.model;

/** How far a flush brings what was written. In C: {@code enum ibv_placement_type}. */
public enum FlushPlacement {
    /** To where everything in the peer's machine sees it. */
    GLOBAL,
    /** To where it outlives a loss of power. */
    PERSISTENT
}
