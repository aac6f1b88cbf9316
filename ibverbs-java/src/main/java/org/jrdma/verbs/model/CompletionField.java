package org.jrdma.verbs.model;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.jrdma.verbs.CompletionCursor;

/**
 * An optional field of completions. Each completion also has the number, status and kind of its
 * request. In C: {@code enum ibv_create_cq_wc_flags}.
 */
public enum CompletionField {
    /** The field that {@link CompletionCursor#bytes} returns. */
    BYTES,
    /**
     * The field that {@link CompletionCursor#immediate} and {@link CompletionCursor#invalidatedKey}
     * return. Also required for the flags {@link CompletionCursor#hasImmediate}, {@link
     * CompletionCursor#hasInvalidated} and {@link CompletionCursor#hasGoodChecksum}.
     */
    IMMEDIATE,
    /** The field that {@link CompletionCursor#queuePairNumber} returns. */
    QUEUE_PAIR,
    /**
     * The field that {@link CompletionCursor#sourceQueuePairNumber} returns. Also required for the
     * flag {@link CompletionCursor#hasGlobalRoute}.
     */
    SOURCE_QUEUE_PAIR,
    /** The field that {@link DatagramSource#lid} returns. */
    SOURCE_LID,
    /** The field that {@link DatagramSource#serviceLevel} returns. */
    SERVICE_LEVEL,
    /** The field that {@link DatagramSource#pathBits} returns. */
    PATH_BITS,
    /** The field that {@link CompletionCursor#timestamp} returns. */
    TIMESTAMP,
    /** The field that {@link CompletionCursor#wallClockNanos} returns. */
    WALL_CLOCK,
    /** The field that {@link CompletionCursor#vlanTag} returns. */
    VLAN_TAG,
    /** The field that {@link CompletionCursor#flowTag} returns. */
    FLOW_TAG;

    /**
     * The fields that completions have unless the options of the completion queue select other
     * fields. These are the fields {@link #BYTES} to {@link #PATH_BITS}.
     */
    public static final Set<CompletionField> STANDARD =
            Collections.unmodifiableSet(EnumSet.range(BYTES, PATH_BITS));
}
