package org.jrdma.verbs.model;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.jrdma.verbs.CompletionCursor;

/**
 * An optional field of a completion, reported in addition to its request number, status and kind.
 * In C: {@code enum ibv_create_cq_wc_flags}.
 */
public enum CompletionField {
    /** {@link CompletionCursor#bytes}. */
    BYTES,
    /** {@link CompletionCursor#immediate}, and {@link CompletionCursor#hasGoodChecksum}. */
    IMMEDIATE,
    /** {@link CompletionCursor#queuePairNumber}. */
    QUEUE_PAIR,
    /** {@link CompletionCursor#sourceQueuePairNumber}. */
    SOURCE_QUEUE_PAIR,
    /** {@link DatagramSource#lid}. */
    SOURCE_LID,
    /** {@link DatagramSource#serviceLevel}. */
    SERVICE_LEVEL,
    /** {@link DatagramSource#pathBits}. */
    PATH_BITS,
    /** {@link CompletionCursor#timestamp}. */
    TIMESTAMP,
    /** {@link CompletionCursor#wallClockNanos}. */
    WALL_CLOCK,
    /** {@link CompletionCursor#vlanTag}. */
    VLAN_TAG,
    /** {@link CompletionCursor#flowTag}. */
    FLOW_TAG;

    /** The fields that a completion queue reports unless it was created with a specific set. */
    public static final Set<CompletionField> STANDARD =
            Collections.unmodifiableSet(EnumSet.range(BYTES, PATH_BITS));
}
