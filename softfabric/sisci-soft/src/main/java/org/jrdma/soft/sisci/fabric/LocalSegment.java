package org.jrdma.soft.sisci.fabric;

import java.util.List;

/** Memory of this node. In C: {@code sci_local_segment_t}. Safe for use by several threads. */
public sealed interface LocalSegment permits CreatedSegment, AttachedSegment {

    /** An operation on the state that any process that has the segment can request. */
    enum Operation {
        PREPARE,
        MAKE_AVAILABLE,
        MAKE_UNAVAILABLE,
        SHARE,
        /** Changes nothing. */
        REQUIRE_PREPARED,
        /** The same, for DMA that writes to the segment. */
        REQUIRE_PREPARED_AS_TARGET;

        private static final List<Operation> ALL = List.of(values());

        /** The number in messages. */
        int number() {
            return ALL.indexOf(this);
        }

        static Operation of(int number) {
            return ALL.get(number);
        }
    }

    /** The id by which peers connect. */
    int id();

    /** What its maker asked for; 0 while it has no memory. */
    long bytes();

    /** Applies an operation, or fails. */
    void apply(Operation operation, int adapter, int flags);

    /** Maps a part of it. */
    SegmentMap map(long offset, long length, int flags);

    /** What happens to it. */
    EventQueue<SegmentEvent> events();

    /** Where its memory is, for DMA. Until {@link #release}, it cannot be removed. */
    long hold();

    /** Ends a hold. */
    void release();

    /** Removes the segment from this process. */
    void remove(int flags);
}
