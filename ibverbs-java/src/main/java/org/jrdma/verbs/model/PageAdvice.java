package org.jrdma.verbs.model;

/**
 * A kind of prefetch for the pages of a memory region with on-demand paging. In C: {@code enum
 * ibv_advise_mr_advice}.
 */
public enum PageAdvice {
    /** Prefetches pages for requests that read the memory. */
    PREFETCH,
    /**
     * Prefetches pages for requests that read or write the memory. Requires {@link
     * Access#LOCAL_WRITE} on the region.
     */
    PREFETCH_FOR_WRITING,
    /**
     * Makes pages that are already in memory accessible to the device, and does not load other
     * pages.
     */
    PREFETCH_WITHOUT_FAULT
}
