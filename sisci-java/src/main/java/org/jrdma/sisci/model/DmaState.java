package org.jrdma.sisci.model;

/** How far a DMA queue's transfer is. In C: {@code sci_dma_queue_state_t}. */
public enum DmaState {
    /** None was started. */
    IDLE,
    /** It is under way. */
    POSTED,
    /** All of it has arrived. */
    DONE,
    /** It was aborted. */
    ABORTED,
    /** It failed. */
    ERROR,
    /** A number that has no publicly known meaning. */
    UNKNOWN
}
