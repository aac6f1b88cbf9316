package org.jrdma.verbs.model;

/** Which pages of an on-demand region are wanted soon. In C: {@code enum ibv_advise_mr_advice}. */
public enum PageAdvice {
    /** Those that are to be read. */
    PREFETCH,
    /** Those that are to be written too. The region needs {@link Access#LOCAL_WRITE}. */
    PREFETCH_FOR_WRITING,
    /** Those that are in memory already: the device is told where. */
    PREFETCH_WITHOUT_FAULT
}
