package org.jrdma.sockets.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.Sequence;
import org.jrdma.sisci.model.SequenceStatus;
import org.jrdma.sisci.model.SisciException;

/**
 * The segment of the peer of a stream. This end is connected to it and stores bytes and
 * notifications into it. {@link StreamLayout} describes its content.
 *
 * @param segment the connected segment
 * @param map the mapping of the segment
 * @param sequence checks stores for errors
 * @param capacity the length of the ring in bytes
 * @param process wakes up the process of the peer
 * @param slot the slot of the segment in the {@link WakeUpMarks} of the process
 */
record PeerSegment(
        RemoteSegment segment,
        RemoteMap map,
        Sequence sequence,
        int capacity,
        OutgoingWakeUps.WakeUp process,
        int slot)
        implements AutoCloseable {

    /**
     * Connects to the segment of a peer. May block.
     *
     * @param wakeUpNumber the number of the interrupt that wakes up the process of the peer
     * @param timeout the time during which temporary failures are retried
     * @throws FabricException if the segment does not exist, or is not a segment of a stream
     */
    static PeerSegment connect(
            SisciStreamNode streamNode, int node, int id, int wakeUpNumber, Duration timeout)
            throws FabricException, InterruptedIOException {
        var segment = streamNode.node().connect(node, id, timeout);
        try {
            var map = segment.map();
            var capacity = map.getLong(StreamLayout.CAPACITY);
            if (map.getLongAcquire(StreamLayout.KIND) != StreamLayout.THIS_KIND
                    || capacity <= 0
                    || Long.bitCount(capacity) != 1
                    || capacity > Math.min(Integer.MAX_VALUE, map.byteSize() - StreamLayout.RING)) {
                throw new FabricException("%s is not a segment of a stream".formatted(segment));
            }
            var sequence = map.newSequence();
            var status = sequence.start();
            if (status != SequenceStatus.OK) {
                throw new FabricException("the link to %s is %s".formatted(segment, status));
            }
            var location = map.getLong(StreamLayout.SLOT);
            var slot = StreamLayout.lower(location);
            if (slot < 0 || slot >= WakeUpMarks.SLOTS) {
                throw new FabricException(
                        "%s has the invalid slot %d for wake-ups".formatted(segment, slot));
            }
            var process =
                    streamNode
                            .outgoingWakeUps()
                            .take(node, wakeUpNumber, StreamLayout.upper(location), timeout);
            return new PeerSegment(segment, map, sequence, (int) capacity, process, slot);
        } catch (Throwable e) {
            segment.close();
            throw e;
        }
    }

    /**
     * Connects to the segment of the accepting peer, which has stored its location. May block.
     *
     * @param memory the segment of this end
     */
    static PeerSegment connectAccepting(
            SisciStreamNode streamNode, LocalMap memory, Duration timeout)
            throws FabricException, InterruptedIOException {
        var location = memory.getLong(StreamLayout.SEGMENT);
        return connect(
                streamNode,
                StreamLayout.upper(location),
                StreamLayout.lower(location),
                (int) memory.getLong(StreamLayout.WAKE_UP),
                timeout);
    }

    /** Returns true if all stores so far have arrived in the segment of the peer. */
    boolean haveStoresArrived() {
        try {
            return sequence.check() == SequenceStatus.OK;
        } catch (SisciException _) {
            return false;
        }
    }

    /**
     * Stores the reply to a connect request. Also stores the node and the segment id of this end,
     * so that the peer can connect to this end's segment.
     */
    void storeReply(long stream, ConnectReply reply, StreamSegment segment) {
        var streamNode = segment.streamNode();
        map.putLong(
                StreamLayout.SEGMENT, StreamLayout.word(streamNode.nodeId(), segment.segmentId()));
        map.putLong(StreamLayout.WAKE_UP, streamNode.wakeUpNumber());
        map.putLongRelease(StreamLayout.REPLY, StreamLayout.flag(stream, reply.code()));
        wakeUp();
    }

    /**
     * Stores a connect request for the next stream over the connected segments.
     *
     * @param stream the number of the next stream
     * @throws FabricException if the request may not have arrived
     */
    void storeRequest(long stream, ConnectRequest request) throws FabricException {
        var message = MemorySegment.ofArray(request.encode());
        var length = message.byteSize();
        MemorySegment.copy(message, 0, map.segment(), StreamLayout.REQUEST, length);
        if (!haveStoresArrived()) {
            throw new FabricException("the link to its listener has failed");
        }
        map.putLongRelease(StreamLayout.REQUEST_LENGTH, StreamLayout.flag(stream, length));
        wakeUp();
    }

    /** Stores that this end has sent {@code total} bytes in all, and sends no more. */
    void storeEnd(long stream, long total) {
        map.putLong(StreamLayout.TOTAL, total);
        map.putLongRelease(StreamLayout.ENDED, StreamLayout.flag(stream, 1));
    }

    /**
     * Stores that this end is closed, and wakes up the peer.
     *
     * @param how {@link StreamLayout#CLOSED} or {@link StreamLayout#RESET}
     */
    void storeClose(long stream, long how) {
        map.putLongRelease(StreamLayout.CLOSE, StreamLayout.flag(stream, how));
        wakeUp();
    }

    /** Wakes up the process of the peer after all earlier stores have been sent. */
    void wakeUp() {
        map.flush();
        process.trigger(slot);
    }

    @Override
    public void close() {
        segment.close();
        process.release();
    }
}
