package org.jrdma.sockets.sisci;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sockets.internal.SocketCalls;

/**
 * The ring buffer in the peer's segment, into which this end stores bytes; see {@link
 * StreamLayout}. The capacity is a power of two. The peer reports in this end's segment how many
 * bytes it has consumed. This class caches that number, and reads it again if there seems to be too
 * little free space.
 *
 * <p>One thread at a time sends, while it holds the stream's lock for sends. The field {@code
 * sleeps} is guarded by another lock.
 */
final class SendRing {

    private final PeerSegment peer;
    private final LocalMap memory;
    private final int capacity;
    private volatile long produced;

    /**
     * The position at which this stream starts. The number of consumed bytes may still be lower, if
     * the peer has not consumed all bytes of the previous streams.
     */
    private final long start;

    // Guarded by the stream's lock for sends
    private long consumed;
    private long wokenReader;

    /** The number of announced sleeps. Guarded by the stream's lock for acknowledgements. */
    private long sleeps;

    SendRing(PeerSegment peer, LocalMap memory) {
        this.peer = peer;
        this.memory = memory;
        this.capacity = peer.capacity();
        this.start = 0;
    }

    /** Creates the ring of the next stream in the same memory. */
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

    /** Returns the number of bytes that were sent to the peer over all streams of the ring. */
    long produced() {
        return produced;
    }

    /**
     * Returns true if a writer that sleeps must be woken up: at least a quarter of the ring is
     * free, or the peer has stored an invalid position, so that the writer must fail.
     */
    boolean isWriterWakeUpDue() {
        var free = capacity - (produced - consumed());
        return free >= Math.max(1, capacity / 4) || free < 0;
    }

    /**
     * Returns the position up to which the peer has consumed bytes. The peer's counter can still be
     * that of an earlier stream over the same segment, so the result is never less than the start
     * of this stream.
     */
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
        // At most a quarter of the ring, so that the peer can receive it while the next part is
        // stored.
        var limit = Math.min(bytes, Math.max(1, capacity / 4));
        var free = capacity - (position - consumed);
        if (free < limit) {
            consumed = consumed();
            free = capacity - (position - consumed);
            if (free < 0 || free > capacity) {
                return StreamLayout.INVALID_POSITION;
            }
        }
        var count = (int) Math.min(limit, free);
        var index = (int) position & capacity - 1;
        var first = Math.min(count, capacity - index);
        var ring = peer.map().segment();
        MemorySegment.copy(source, 0, ring, StreamLayout.RING + index, first);
        MemorySegment.copy(source, first, ring, StreamLayout.RING, count - first);
        return count;
    }

    /**
     * Makes stored bytes visible to the peer.
     *
     * @return true if the caller must wake up the peer, because its reader sleeps
     */
    boolean publish(int count) {
        var position = produced + count;
        produced = position;
        peer.map().putLongRelease(StreamLayout.PRODUCED, position);
        peer.map().flush();
        VarHandle.fullFence(); // The fence orders the store before the load of the reader's state.
        var asleep = memory.getLongAcquire(StreamLayout.READER_SLEEPS);
        var wakes = asleep != wokenReader;
        wokenReader = asleep;
        return wakes;
    }

    /**
     * Announces sleeping threads to the peer, which wakes this end up once for each announcement.
     * The caller holds the stream's lock for acknowledgements.
     *
     * @param events the events of poll(2) for which threads sleep
     * @param incoming the ring of this end
     */
    void announceSleep(int events, ReceiveRing incoming) {
        if ((events & SocketCalls.POLLIN) != 0) {
            incoming.announceSleep(peer);
        }
        if ((events & SocketCalls.POLLOUT) != 0) {
            peer.map().putLong(StreamLayout.WRITER_SLEEPS, ++sleeps);
        }
        peer.map().flush();
    }
}
