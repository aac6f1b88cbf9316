package org.jrdma.sisci;

import org.jrdma.abi.sisci.sisci_h;

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
    UNKNOWN;

    static DmaState of(int code) {
        if (code == sisci_h.SCI_DMAQUEUE_IDLE()) {
            return IDLE;
        } else if (code == sisci_h.SCI_DMAQUEUE_POSTED()) {
            return POSTED;
        } else if (code == sisci_h.SCI_DMAQUEUE_DONE()) {
            return DONE;
        } else if (code == sisci_h.SCI_DMAQUEUE_ABORTED()) {
            return ABORTED;
        } else if (code == sisci_h.SCI_DMAQUEUE_ERROR()) {
            return ERROR;
        }
        return UNKNOWN;
    }
}
