package org.jrdma.sockets.sisci;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jrdma.sisci.LocalMap;

/**
 * The ring buffer in this end's segment, into which the peer stores bytes; see {@link
 * StreamLayout}. The capacity is a power of two.
 *
 * <p>One thread at a time receives. The caller of {@link #acknowledge} and {@link #announceSleep}
 * holds the stream's lock for acknowledgements.
 */
final class ReceiveRing {

    private final LocalMap memory;
    private final int capacity;
    private volatile long consumed;

    // Guarded by the stream's lock for acknowledgements
    private long acknowledged;
    private long wokenWriter;
    private long sleeps;

    ReceiveRing(LocalMap memory, int capacity) {
        this.memory = memory;
        this.capacity = capacity;
    }

    /**
     * Creates the ring of the next stream in the same memory. The position starts after the bytes
     * that the previous stream has not received.
     */
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

    /**
     * Returns true if this end has received all bytes that the peer had sent when it announced the
     * end.
     */
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

    /**
     * Returns true if this end has received at least an eighth of the capacity since its last
     * acknowledgement.
     */
    boolean isAcknowledgementDue() {
        return consumed - acknowledged >= capacity / 8;
    }

    /**
     * Reports the number of received bytes to the peer.
     *
     * @return true if the caller must wake up the peer, because its writer sleeps and at least a
     *     quarter of the ring is free
     */
    boolean acknowledge(PeerSegment peer) {
        acknowledged = consumed;
        peer.map().putLongRelease(StreamLayout.CONSUMED, acknowledged);
        peer.map().flush();
        VarHandle.fullFence(); // The fence orders the store before the load of the writer's state.
        var asleep = memory.getLongAcquire(StreamLayout.WRITER_SLEEPS);
        var free = capacity - (memory.getLongAcquire(StreamLayout.PRODUCED) - acknowledged);
        if (asleep == wokenWriter || free < capacity / 4) {
            return false;
        }
        wokenWriter = asleep;
        return true;
    }

    /** Reports to the peer that a reader of this end is about to sleep. */
    void announceSleep(PeerSegment peer) {
        peer.map().putLong(StreamLayout.READER_SLEEPS, ++sleeps);
    }
}
