package org.jrdma.sockets.sisci;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * This end's segment and what is known of the peer's, for one stream after another: a segment takes
 * the driver, both processes and all their threads to come and to go, and a stream over segments
 * that are there takes some stores.
 *
 * <p>Made and closed by its streams, of which one at a time has it. Safe for use by several
 * threads.
 */
final class SegmentPair {

    /**
     * Where ids begin, and how many there are. Each end begins its search for a free one behind the
     * last: one that was just in use may still be named by an unread request.
     */
    private static final int FIRST_ID = 0x1000_0000;

    private static final int IDS = 0x1000_0000;
    private static final AtomicInteger NEXT_ID =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(IDS));

    private final SisciFabric fabric;
    private final LocalSegment segment;
    private final LocalMap mine;
    private final int capacity;
    private final Use use;

    // Before the stream is told of it, so that one that comes just now finds it said
    private volatile boolean partnerCame;
    private volatile boolean partnerGone;
    private volatile boolean broken;
    private volatile @Nullable SisciStream stream;

    /** Which end it is, and of what: who may have it next. */
    sealed interface Use {}

    /** The connecting end, and where it connects to. */
    record Route(int node, InetSocketAddress target, int ringBytes) implements Use {}

    /** The accepting end. */
    record Accepted(SisciListener listener) implements Use {}

    private SegmentPair(
            SisciFabric fabric, LocalSegment segment, LocalMap mine, int capacity, Use use) {
        this.fabric = fabric;
        this.segment = segment;
        this.mine = mine;
        this.capacity = capacity;
        this.use = use;
    }

    /** Makes this end's segment, for a peer to connect to when it is {@link #offer offered}. */
    static SegmentPair make(SisciFabric fabric, int ringBytes, Use use) throws SisciException {
        var capacity = StreamLayout.powerOfTwo(ringBytes);
        var bytes = StreamLayout.inPages(StreamLayout.RING + capacity);
        var segment = fabric.node().newSegment(SegmentOptions.withFreeId(nextId(), bytes));
        try {
            var mine = segment.map();
            mine.putLong(StreamLayout.CAPACITY, capacity);
            mine.putLongRelease(StreamLayout.KIND, StreamLayout.THIS_KIND);
            return new SegmentPair(fabric, segment, mine, capacity, use);
        } catch (SisciException | RuntimeException e) {
            segment.close();
            throw e;
        }
    }

    private static int nextId() {
        return FIRST_ID + Math.floorMod(NEXT_ID.getAndIncrement(), IDS);
    }

    /** Its stream must be there. */
    void offer() throws SisciException {
        segment.onEvent(this::happened);
        segment.offer();
    }

    /**
     * Connects to the peer's segment. May block.
     *
     * @param timeout until when to repeat what fails temporarily
     * @throws FabricException if the peer is not there, or is no end of a stream
     */
    PeerSegment join(int node, int id, int wakeUpNumber, Duration timeout)
            throws FabricException, InterruptedIOException {
        var peer = PeerSegment.connect(fabric, node, id, wakeUpNumber, timeout);
        peer.segment().onEvent(this::happenedThere);
        return peer;
    }

    /** Whether the peer requests that stream, by these segments. */
    boolean isRequested(long stream) {
        return use instanceof Accepted && requestLength(stream) != 0;
    }

    /** The peer's request for that stream, as it was stored. */
    byte[] request(long stream) {
        var length = Math.min(requestLength(stream), ConnectRequest.MOST_BYTES);
        return mine.segment().asSlice(StreamLayout.REQUEST, length).toArray(JAVA_BYTE);
    }

    private long requestLength(long stream) {
        return StreamLayout.flagOf(stream, mine.getLongAcquire(StreamLayout.REQUEST_LENGTH));
    }

    void close() {
        segment.close();
    }

    SisciFabric fabric() {
        return fabric;
    }

    int segmentId() {
        return segment.id();
    }

    LocalMap mine() {
        return mine;
    }

    int capacity() {
        return capacity;
    }

    Use use() {
        return use;
    }

    /** Gives it to a stream, which is told from now on of what happens. */
    void giveTo(SisciStream newStream) {
        stream = newStream;
    }

    /** Whether the peer has connected, ever. */
    boolean hasPartnerCome() {
        return partnerCame;
    }

    /** Whether the peer will not connect any more, or not again. */
    boolean isPartnerGone() {
        return partnerGone;
    }

    /** Whether stores of either side may have been lost. */
    boolean isBroken() {
        return broken;
    }

    void partnerIsGone() {
        partnerGone = true;
    }

    /** Something has happened to the peer's connection to this end. */
    private void happened(SegmentEvent event) {
        switch (event.type()) {
            case DISCONNECTED, LOST -> {
                partnerGone = true;
                tell(SisciStream::partnerHasGone);
            }
            case NOT_OPERATIONAL -> {
                broken = true;
                tell(SisciStream::fail);
            }
            case CONNECTED -> partnerCame = true; // and this is told of when it goes, however late
            case OPERATIONAL, UNKNOWN -> {} // no reason to do anything
        }
    }

    /** Something has happened to this end's connection to the peer. */
    private void happenedThere(SegmentEvent event) {
        switch (event.type()) {
            case NOT_OPERATIONAL, LOST -> {
                broken = true;
                tell(SisciStream::fail);
            }
            case DISCONNECTED -> tell(SisciStream::look);
            case CONNECTED, OPERATIONAL, UNKNOWN -> {} // no reason to do anything
        }
    }

    private void tell(Consumer<SisciStream> what) {
        var told = stream;
        if (told != null) {
            what.accept(told);
        }
    }
}
