package org.jrdma.soft.sisci.fabric;

import java.util.List;

/** A segment of this node. In C: {@code sci_local_segment_t}. Safe for use by multiple threads. */
public sealed interface LocalSegment permits CreatedSegment, AttachedSegment {

    /** An operation on the state, which the owner and attached processes can request. */
    enum Operation {
        PREPARE,
        MAKE_AVAILABLE,
        MAKE_UNAVAILABLE,
        SHARE,
        /** Fails for a segment that is not prepared, and changes nothing. */
        REQUIRE_PREPARED,
        /** Like {@link #REQUIRE_PREPARED}, but not only as the source of DMA. */
        REQUIRE_PREPARED_AS_TARGET;

        private static final List<Operation> ALL = List.of(values());

        int number() {
            return ALL.indexOf(this);
        }

        static Operation of(int number) {
            return ALL.get(number);
        }
    }

    int id();

    long bytes();

    void apply(Operation operation, int adapter, int flags);

    SegmentMap map(long offset, long length, int flags);

    EventQueue<SegmentEvent> events();

    /** Returns the address of the memory, and prevents a removal until {@link #release}. */
    long hold();

    /** Ends a {@link #hold}. */
    void release();

    void remove(int flags);
}
