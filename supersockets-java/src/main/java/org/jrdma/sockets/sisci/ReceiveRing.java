package org.jrdma.sockets.sisci;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jrdma.sisci.LocalMap;

/**
 * The ring buffer in this end's segment, into which the peer stores bytes; see {@link
 * StreamLayout}. The capacity is a power of two.
 *
 * <p>One thread at a time receives. The fields of the acknowledgements are guarded by a lock of
 * their own.
 */
final class ReceiveRing {

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

    /** Creates the ring for the next stream, which starts after the unread bytes. */
    ReceiveRing(ReceiveRing former) {
        memory = former.memory;
        capacity = former.capacity;
        consumed = former.consumed + Math.max(0, former.available());
        acknowledged = consumed;
        wokenWriter = former.wokenWriter;
        sleeps = former.sleeps;
    }

    /**
     * Returns the number of bytes that can be received, or {@link StreamLayout#INVALID_POSITION}.
     */
    int available() {
        var bytes = memory.getLongAcquire(StreamLayout.PRODUCED) - consumed;
        return bytes >= 0 && bytes <= capacity ? (int) bytes : StreamLayout.INVALID_POSITION;
    }

    /** Returns true if all bytes that the peer has sent were received. */
    boolean isComplete() {
        return memory.getLong(StreamLayout.TOTAL) == consumed;
    }

    void receive(MemorySegment target, int count) {
        var position = consumed;
        var index = (int) position & capacity - 1;
        var first = Math.min(count, capacity - index);
        var ring = memory.segment();
        MemorySegment.copy(ring, StreamLayout.RING + index, target, 0, first);
        MemorySegment.copy(ring, StreamLayout.RING, target, first, count - first);
        consumed = position + count;
    }

    /** Returns true if enough bytes were received to acknowledge them. */
    boolean isAcknowledgementDue() {
        return consumed - acknowledged >= capacity / 8;
    }

    /**
     * Reports the number of received bytes to the peer.
     *
     * @return true if the peer's writer must be woken up
     */
    boolean acknowledge(PeerSegment peer) {
        acknowledged = consumed;
        peer.map().putLongRelease(StreamLayout.CONSUMED, acknowledged);
        peer.map().flush();
        VarHandle.fullFence(); // orders the store before the load of the writer's state
        var asleep = memory.getLongAcquire(StreamLayout.WRITER_SLEEPS);
        var free = capacity - (memory.getLongAcquire(StreamLayout.PRODUCED) - acknowledged);
        if (asleep == wokenWriter || free < capacity / 4) {
            return false;
        }
        wokenWriter = asleep;
        return true;
    }

    void announceSleep(PeerSegment peer) {
        peer.map().putLong(StreamLayout.READER_SLEEPS, ++sleeps);
    }
}
