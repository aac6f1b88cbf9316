package org.jrdma.soft.sisci.fabric;

import java.lang.foreign.MemorySegment;

/** Memory that a program stores into, from where stores have to be fetched: nothing else tells. */
abstract sealed class Stores permits GatheredStores, TriggeringStores {

    final RemoteSegment segment;

    Stores(RemoteSegment segment) {
        this.segment = segment;
    }

    /** What is to be done now and then. */
    abstract void tick();

    /** What was stored before has gone afterwards. */
    abstract void drain();

    /** Stores a copy of memory, whatever was stored there before. */
    abstract void copyFrom(MemorySegment source, long position);

    /** Something has gone to the segment past this memory. */
    abstract void sentPast(MemorySegment source, long segmentOffset);

    /** The way has been cut, or mended. */
    abstract void renew();

    /** Nobody may store any more. */
    abstract void close();

    final boolean isOf(RemoteSegment other) {
        return segment == other;
    }
}
