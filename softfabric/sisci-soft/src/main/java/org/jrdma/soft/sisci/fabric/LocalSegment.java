package org.jrdma.soft.sisci.fabric;

import java.util.List;

/** Memory of this node. In C: {@code sci_local_segment_t}. Safe for use by several threads. */
public sealed interface LocalSegment permits OwnSegment, SharedSegment {

    /** A change that any process that has the segment can ask for. */
    enum Step {
        PREPARE,
        MAKE_AVAILABLE,
        MAKE_UNAVAILABLE,
        SHARE,
        /** Changes nothing. */
        REQUIRE_PREPARED,
        /** The same, for DMA that writes to the segment. */
        REQUIRE_PREPARED_AS_TARGET;

        private static final List<Step> ALL = List.of(values());

        /** What processes know it by. */
        int number() {
            return ALL.indexOf(this);
        }

        static Step of(int number) {
            return ALL.get(number);
        }
    }

    /** By which peers know it. */
    int id();

    /** What its maker asked for; 0 while it has no memory. */
    long bytes();

    /** Makes a step, or refuses. */
    void step(Step step, int adapter, int flags);

    /** Maps a part of it. */
    SegmentMap map(long offset, long length, int flags);

    /** What happens to it. */
    Outlet<SegmentEvent> events();

    /** Where its memory is, for DMA. Until {@link #release}, it cannot be removed. */
    long hold();

    /** Ends a hold. */
    void release();

    /** Ends it, for this process. */
    void remove(int flags);
}
