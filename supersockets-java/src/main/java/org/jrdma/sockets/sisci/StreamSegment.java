package org.jrdma.sockets.sisci;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * The local segment of a stream, and the state of the connection of the peer to the segment.
 *
 * <p>Successive streams use the same segment, because creating and connecting segments involves the
 * driver and all threads of both processes, whereas a stream over connected segments starts with a
 * few stores.
 *
 * <p>Owned by its current stream; at any time, there is one. Safe for use by multiple threads.
 */
final class StreamSegment {

    /**
     * The first segment id. Ids are assigned in ascending order, so that an id is not reused soon:
     * an unread connect request may still name a segment that was just closed.
     */
    private static final int FIRST_ID = 0x1000_0000;

    private static final int IDS = 0x1000_0000;
    private static final AtomicInteger NEXT_ID =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(IDS));

    private final SisciStreamNode streamNode;
    private final LocalSegment segment;
    private final LocalMap map;
    private final int capacity;
    private final Use use;

    // Set before the stream is notified. A stream that is attached concurrently, and therefore not
    // notified, reads these fields instead.
    private volatile boolean peerConnected;
    private volatile boolean peerGone;
    private volatile boolean broken;
    private volatile @Nullable SisciStream stream;

    /** The slot in the {@link WakeUpMarks}, which is assigned when the segment is offered. */
    private volatile int slot = WakeUpMarks.ALL;

    /**
     * The purpose for which a segment was created. It determines which later streams can use the
     * segment.
     */
    sealed interface Use {}

    /**
     * The connecting end. The segment can be used for streams to the same listener.
     *
     * @param node the node of the listener
     * @param target the address of the listener
     * @param ringBytes the requested capacity of the ring; 0 for no request
     */
    record Route(int node, InetSocketAddress target, int ringBytes) implements Use {}

    /**
     * The accepting end. The segment can be used for streams that the same listener accepts from
     * the same client.
     *
     * @param listener the listener
     * @param client the address of the client, which the client has proved
     */
    record Accepted(SisciListener listener, InetAddress client) implements Use {}

    private StreamSegment(
            SisciStreamNode streamNode, LocalSegment segment, LocalMap map, int capacity, Use use) {
        this.streamNode = streamNode;
        this.segment = segment;
        this.map = map;
        this.capacity = capacity;
        this.use = use;
    }

    static StreamSegment create(SisciStreamNode streamNode, int ringBytes, Use use)
            throws SisciException {
        var capacity = streamNode.ringMemory().take(ringBytes);
        LocalSegment segment = null;
        try {
            var bytes = StreamLayout.inPages(StreamLayout.RING + capacity);
            segment = streamNode.node().newSegment(SegmentOptions.withFreeId(nextId(), bytes));
            var map = segment.map();
            map.putLong(StreamLayout.CAPACITY, capacity);
            map.putLongRelease(StreamLayout.KIND, StreamLayout.THIS_KIND);
            return new StreamSegment(streamNode, segment, map, capacity, use);
        } catch (Throwable e) {
            if (segment != null) {
                segment.close();
            }
            streamNode.ringMemory().release(capacity);
            throw e;
        }
    }

    /** Returns a segment id that was not used recently. */
    static int nextId() {
        return FIRST_ID + Math.floorMod(NEXT_ID.getAndIncrement(), IDS);
    }

    /** Makes the segment available to the peer. A stream must be attached. */
    void offer() throws SisciException {
        segment.onEvent(this::localEvent);
        var marks = streamNode.marks();
        slot = marks.add(this::scanStream);
        map.putLongRelease(StreamLayout.SLOT, StreamLayout.word(marks.segment().id(), slot));
        segment.offer();
    }

    /** Notifies the stream of the events of the connection to the peer's segment. */
    void watch(PeerSegment peer) {
        peer.segment().onEvent(this::remoteEvent);
    }

    /** Returns true if the peer has stored a connect request for a stream. */
    boolean isRequested(long stream) {
        return use instanceof Accepted && requestLength(stream) != 0;
    }

    /** Returns the encoded connect request that the peer has stored for a stream. */
    byte[] request(long stream) {
        var length = Math.min(requestLength(stream), ConnectRequest.MAX_BYTES);
        return map.segment().asSlice(StreamLayout.REQUEST, length).toArray(JAVA_BYTE);
    }

    private long requestLength(long stream) {
        return StreamLayout.flagOf(stream, map.getLongAcquire(StreamLayout.REQUEST_LENGTH));
    }

    /** Called once. */
    void close() {
        streamNode.marks().remove(slot);
        segment.close();
        streamNode.ringMemory().release(capacity);
    }

    SisciStreamNode streamNode() {
        return streamNode;
    }

    int segmentId() {
        return segment.id();
    }

    LocalMap map() {
        return map;
    }

    int capacity() {
        return capacity;
    }

    Use use() {
        return use;
    }

    /** Sets the stream that uses the segment, and is notified of its events. */
    void attach(SisciStream newStream) {
        stream = newStream;
    }

    private void scanStream() {
        notifyStream(streamNode::scan);
    }

    /** Returns true if the peer has ever connected to this segment. */
    boolean hasPeerConnected() {
        return peerConnected;
    }

    /** Returns true if the peer has disconnected from this segment, or will not connect to it. */
    boolean isPeerGone() {
        return peerGone;
    }

    /**
     * Returns true if a link has failed, so that stores of this end or of the peer may have been
     * lost.
     */
    boolean isBroken() {
        return broken;
    }

    /** Records that no peer will connect to this segment. */
    void markPeerGone() {
        peerGone = true;
    }

    /** Handles an event of the connection of the peer to this segment. */
    private void localEvent(SegmentEvent event) {
        switch (event.type()) {
            case DISCONNECTED, LOST -> {
                peerGone = true;
                notifyStream(SisciStream::peerDisconnected);
            }
            case NOT_OPERATIONAL -> {
                broken = true;
                notifyStream(SisciStream::fail);
            }
            case CONNECTED -> peerConnected = true; // A disconnect event always follows.
            case OPERATIONAL, UNKNOWN -> {}
        }
    }

    /** Handles an event of this end's connection to the peer's segment. */
    private void remoteEvent(SegmentEvent event) {
        switch (event.type()) {
            case NOT_OPERATIONAL, LOST -> {
                broken = true;
                notifyStream(SisciStream::fail);
            }
            case DISCONNECTED -> notifyStream(SisciStream::scan);
            case CONNECTED, OPERATIONAL, UNKNOWN -> {}
        }
    }

    private void notifyStream(Consumer<SisciStream> notification) {
        var current = stream;
        if (current != null) {
            notification.accept(current);
        }
    }
}
