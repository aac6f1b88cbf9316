package org.jrdma.sockets.sisci;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jrdma.sisci.LocalMap;

/**
 * The ring in this end's segment, into which the peer stores bytes; see {@link StreamLayout}. The
 * capacity is a power of two.
 *
 * <p>One thread at a time receives. The acknowledgements have a lock of their own.
 */
final class ReceiveRing {

    /** The peer has stored a position that cannot be. */
    static final int INVALID = -1;

    private final LocalMap memory;
    private final int capacity;
    private volatile long consumed;

    // Guarded by the lock of the acknowledgements
    private long acknowledged;
    private long wokenWriter;
    private long sleeps;

    ReceiveRing(LocalMap memory, int capacity) {
        this.memory = memory;
        this.capacity = capacity;
    }

    /** The ring for the next stream, which starts behind the bytes that were not received. */
    ReceiveRing(ReceiveRing former) {
        memory = former.memory;
        capacity = former.capacity;
        consumed = former.consumed + Math.max(0, former.available());
        acknowledged = consumed;
        wokenWriter = former.wokenWriter;
        sleeps = former.sleeps;
    }

    /** The number of bytes that can be received, or {@link #INVALID}. */
    int available() {
        var bytes = memory.getLongAcquire(StreamLayout.PRODUCED) - consumed;
        return bytes >= 0 && bytes <= capacity ? (int) bytes : INVALID;
    }

    /** Whether all bytes that the peer has sent were received. */
    boolean isComplete() {
        return memory.getLong(StreamLayout.TOTAL) == consumed;
    }

    /** Receives bytes that are available. */
    void receive(MemorySegment target, int count) {
        var position = consumed;
        var index = (int) position & capacity - 1;
        var first = Math.min(count, capacity - index);
        var ring = memory.segment();
        MemorySegment.copy(ring, StreamLayout.RING + index, target, 0, first);
        MemorySegment.copy(ring, StreamLayout.RING, target, first, count - first);
        consumed = position + count;
    }

    /** Whether enough bytes were received to acknowledge them. */
    boolean isAcknowledgementDue() {
        return consumed - acknowledged >= capacity / 8;
    }

    /**
     * Tells the peer how many bytes were received.
     *
     * @return whether its writer is to be woken up
     */
    boolean acknowledge(PeerSegment peer) {
        acknowledged = consumed;
        peer.map().putLongRelease(StreamLayout.CONSUMED, acknowledged);
        peer.map().flush();
        VarHandle.fullFence(); // before this end looks whether the writer sleeps
        var asleep = memory.getLongAcquire(StreamLayout.WRITER_SLEEPS);
        var room = capacity - (memory.getLongAcquire(StreamLayout.PRODUCED) - acknowledged);
        if (asleep == wokenWriter || room < capacity / 4) {
            return false;
        }
        wokenWriter = asleep;
        return true;
    }

    /** Tells the peer that this end sleeps until there are bytes. */
    void announceSleep(PeerSegment peer) {
        peer.map().putLong(StreamLayout.READER_SLEEPS, ++sleeps);
    }
}
