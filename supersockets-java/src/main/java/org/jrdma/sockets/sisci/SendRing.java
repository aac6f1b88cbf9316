package org.jrdma.sockets.sisci;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jrdma.sisci.LocalMap;

/**
 * The ring in the peer's segment, into which this end stores bytes; see {@link StreamLayout}. The
 * peer reports in this end's segment how many bytes it has consumed. That position is cached, and
 * read again when there is not enough room.
 *
 * <p>One thread at a time sends. The sleeps have a lock of their own.
 */
final class SendRing {

    private final PeerSegment peer;
    private final LocalMap memory;
    private final int capacity;
    private volatile long produced;

    /** Where this stream starts. The peer may not have consumed all bytes of the streams before. */
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

    /** The ring for the next stream. */
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

    /** Whether there is so much room that a writer is to be woken up, or the ring is invalid. */
    boolean hasRoomForWakeUp() {
        var room = capacity - (produced - consumed());
        return room >= Math.max(1, capacity / 4) || room < 0;
    }

    private long consumed() {
        return Math.max(start, memory.getLongAcquire(StreamLayout.CONSUMED));
    }

    /**
     * Stores bytes for which there is room. The peer does not see them before {@link #publish}.
     *
     * @return the number of bytes, or {@link ReceiveRing#INVALID} if the peer has stored a position
     *     that cannot be
     */
    int store(MemorySegment source, long bytes) {
        var position = produced;
        // In pieces, so that the peer receives one while the next is sent.
        var wanted = Math.min(bytes, Math.max(1, capacity / 4));
        var room = capacity - (position - consumed);
        if (room < wanted) {
            consumed = consumed();
            room = capacity - (position - consumed);
            if (room < 0 || room > capacity) {
                return ReceiveRing.INVALID;
            }
        }
        var count = (int) Math.min(wanted, room);
        var index = index(position);
        var first = Math.min(count, capacity - index);
        var ring = peer.map().segment();
        MemorySegment.copy(source, 0, ring, StreamLayout.RING + index, first);
        MemorySegment.copy(source, first, ring, StreamLayout.RING, count - first);
        return count;
    }

    /** The rings of older versions have a capacity that is no power of two. */
    private int index(long position) {
        return Integer.bitCount(capacity) == 1
                ? (int) position & capacity - 1
                : (int) (position % capacity);
    }

    /**
     * Shows the peer the bytes that were stored.
     *
     * @return whether its reader is to be woken up
     */
    boolean publish(int count) {
        var position = produced + count;
        produced = position;
        peer.map().putLongRelease(StreamLayout.PRODUCED, position);
        peer.map().flush();
        VarHandle.fullFence(); // before this end looks whether the reader sleeps
        var asleep = memory.getLongAcquire(StreamLayout.READER_SLEEPS);
        var wakes = asleep != wokenReader;
        wokenReader = asleep;
        return wakes;
    }

    /** Tells the peer that this end sleeps until there is room. */
    void announceSleep() {
        peer.map().putLong(StreamLayout.WRITER_SLEEPS, ++sleeps);
    }
}
