package org.jrdma.sockets.sisci;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jrdma.sisci.LocalMap;

/**
 * The ring buffer in the peer's segment, into which this end stores bytes; see {@link
 * StreamLayout}. The peer reports in this end's segment how many bytes it has consumed. That
 * position is cached, and read again if the cached value shows too little free space.
 *
 * <p>One thread at a time sends. The sleep counter is guarded by a lock of its own.
 */
final class SendRing {

    private final PeerSegment peer;
    private final LocalMap memory;
    private final int capacity;
    private volatile long produced;

    /**
     * The position at which this stream starts. The peer may not have consumed all bytes of the
     * previous streams.
     */
    private final long start;

    // Guarded by the lock of the sends
    private long consumed;
    private long wokenReader;

    /** Guarded by the lock of the acknowledgements. */
    private long sleeps;

    SendRing(PeerSegment peer, LocalMap memory) {
        this.peer = peer;
        this.memory = memory;
        this.capacity = peer.capacity();
        this.start = 0;
    }

    SendRing(SendRing former) {
        peer = former.peer;
        memory = former.memory;
        capacity = former.capacity;
        produced = former.produced;
        start = produced;
        consumed = start;
        wokenReader = former.wokenReader;
        sleeps = former.sleeps;
    }

    PeerSegment peer() {
        return peer;
    }

    long produced() {
        return produced;
    }

    /**
     * Returns true if a sleeping writer must be woken up: there is enough free space, or the ring
     * is invalid.
     */
    boolean isWriterWakeUpDue() {
        var free = capacity - (produced - consumed());
        return free >= Math.max(1, capacity / 4) || free < 0;
    }

    private long consumed() {
        return Math.max(start, memory.getLongAcquire(StreamLayout.CONSUMED));
    }

    /**
     * Stores bytes into the free space. The peer does not see them before {@link #publish}.
     *
     * @return the number of bytes, or {@link StreamLayout#INVALID_POSITION} if the peer has stored
     *     an invalid position
     */
    int store(MemorySegment source, long bytes) {
        var position = produced;
        // In parts, so that the peer receives one part while this end stores the next.
        var wanted = Math.min(bytes, Math.max(1, capacity / 4));
        var free = capacity - (position - consumed);
        if (free < wanted) {
            consumed = consumed();
            free = capacity - (position - consumed);
            if (free < 0 || free > capacity) {
                return StreamLayout.INVALID_POSITION;
            }
        }
        var count = (int) Math.min(wanted, free);
        var index = index(position);
        var first = Math.min(count, capacity - index);
        var ring = peer.map().segment();
        MemorySegment.copy(source, 0, ring, StreamLayout.RING + index, first);
        MemorySegment.copy(source, first, ring, StreamLayout.RING, count - first);
        return count;
    }

    /** The index of a position. In older versions, the capacity of a ring is not a power of two. */
    private int index(long position) {
        return Integer.bitCount(capacity) == 1
                ? (int) position & capacity - 1
                : (int) (position % capacity);
    }

    /**
     * Makes the stored bytes visible to the peer.
     *
     * @return true if the peer's reader must be woken up
     */
    boolean publish(int count) {
        var position = produced + count;
        produced = position;
        peer.map().putLongRelease(StreamLayout.PRODUCED, position);
        peer.map().flush();
        VarHandle.fullFence(); // orders the store before the load of the reader's state
        var asleep = memory.getLongAcquire(StreamLayout.READER_SLEEPS);
        var wakes = asleep != wokenReader;
        wokenReader = asleep;
        return wakes;
    }

    void announceSleep() {
        peer.map().putLong(StreamLayout.WRITER_SLEEPS, ++sleeps);
    }
}
