package org.jrdma.verbs.model;

/**
 * A guarantee of a flush about the data of earlier writes to the flushed memory. In C: {@code enum
 * ibv_placement_type}.
 */
public enum FlushPlacement {
    /** The data is visible to all processors and devices of the remote machine. */
    GLOBAL,
    /** The data is persistent: it survives a loss of power. */
    PERSISTENT
}
