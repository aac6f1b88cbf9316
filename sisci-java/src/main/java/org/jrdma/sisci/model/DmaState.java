package org.jrdma.sisci.model;

/** The state of the last transfer of a DMA queue. In C: {@code sci_dma_queue_state_t}. */
public enum DmaState {
    /** No transfer has been started. */
    IDLE,
    /** The transfer is in progress. */
    POSTED,
    /** The transfer has completed successfully. */
    DONE,
    /** The transfer was aborted. */
    ABORTED,
    /** The transfer failed. */
    ERROR,
    /** The library reported a number that has no publicly known meaning. */
    UNKNOWN
}
