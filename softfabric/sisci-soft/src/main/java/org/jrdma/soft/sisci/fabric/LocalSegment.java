package org.jrdma.soft.sisci.fabric;

import java.util.List;

/** Memory of this node. In C: {@code sci_local_segment_t}. Safe for use by multiple threads. */
public sealed interface LocalSegment permits CreatedSegment, AttachedSegment {

    /** An operation on the state that any process that has the segment can request. */
    enum Operation {
        PREPARE,
        MAKE_AVAILABLE,
        MAKE_UNAVAILABLE,
        SHARE,
        /** Changes nothing, but fails for a segment that is not prepared. */
        REQUIRE_PREPARED,
        /** As {@link #REQUIRE_PREPARED}, for DMA that writes to the segment. */
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

    /** The size; 0 for a segment without memory. */
    long bytes();

    /** Applies an operation, or fails. */
    void apply(Operation operation, int adapter, int flags);

    /** Maps a part. */
    SegmentMap map(long offset, long length, int flags);

    /** The events of the segment. */
    EventQueue<SegmentEvent> events();

    /** The address of the memory, for DMA. Prevents a removal until {@link #release}. */
    long hold();

    /** Ends a {@link #hold}. */
    void release();

    /** Removes the segment from this process. */
    void remove(int flags);
}
