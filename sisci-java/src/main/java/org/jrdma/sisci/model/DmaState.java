package org.jrdma.sisci.model;

/** The state of the last transfer of a DMA queue. In C: {@code sci_dma_queue_state_t}. */
public enum DmaState {
    /** No transfer was started. */
    IDLE,
    /** The transfer is in progress. */
    POSTED,
    /** The transfer is complete. */
    DONE,
    /** The transfer was aborted. */
    ABORTED,
    /** The transfer failed. */
    ERROR,
    /** A number that has no publicly known meaning. */
    UNKNOWN
}
