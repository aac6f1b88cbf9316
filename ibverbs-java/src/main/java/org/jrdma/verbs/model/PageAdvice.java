package org.jrdma.verbs.model;

/** A prefetch advice for pages of an on-demand region. In C: {@code enum ibv_advise_mr_advice}. */
public enum PageAdvice {
    /** Prefetches pages for reading. */
    PREFETCH,
    /**
     * Prefetches pages for reading and writing. Requires {@link Access#LOCAL_WRITE} on the region.
     */
    PREFETCH_FOR_WRITING,
    /** Maps pages that are already in memory for the device, without faulting in others. */
    PREFETCH_WITHOUT_FAULT
}
