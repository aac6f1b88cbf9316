package org.jrdma.soft.sisci.fabric;

import java.util.List;

/** A segment of this node. In C: {@code sci_local_segment_t}. Safe for use by multiple threads. */
public sealed interface LocalSegment permits CreatedSegment, AttachedLocalSegment {

    /** An operation on the state of a segment. The owner and attached processes can request it. */
    enum Operation {
        PREPARE,
        MAKE_AVAILABLE,
        MAKE_UNAVAILABLE,
        SHARE,
        /** Checks that the segment is prepared, and changes nothing. */
        REQUIRE_PREPARED,
        /**
         * Like {@link #REQUIRE_PREPARED}, and checks that the segment is not prepared only as a
         * source of DMA transfers.
         */
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

    /**
     * Returns the address of the memory, and prevents the removal of the segment until {@link
     * #release} is called.
     */
    long hold();

    /**
     * Returns the descriptor of the memory, which belongs to this segment. The caller must have
     * called {@link #hold}.
     */
    int file();

    /** Permits the removal of the segment again: reverts one call of {@link #hold}. */
    void release();

    void remove(int flags);
}
