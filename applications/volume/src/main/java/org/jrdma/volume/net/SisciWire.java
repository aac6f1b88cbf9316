package org.jrdma.volume.net;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.LocalInterrupt;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.LocalSegment.DisconnectFlag;
import org.jrdma.sisci.MessageReceiver;
import org.jrdma.sisci.MessageSender;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.Sequence;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciException;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.jspecify.annotations.Nullable;

/**
 * A connection over SISCI. Frames are messages in a message queue for each direction, and an
 * interrupt wakes up the receiver. Each side stores bulk data into segments of the other side: into
 * its area, or into the buffer of the caller. Neither side loads from the other.
 */
final class SisciWire implements Wire {

    private static final int QUEUE_BYTES = 256 << 10;
    private static final int FIRST_SEGMENT = 0x20000;
    private static final int PAGE = 4096;

    /** The maximum number of remote buffers to which this side stays connected. */
    private static final int MAX_PEER_BUFFERS = 64;

    /** The time after which a receiver looks for messages without an interrupt. */
    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    /** The time for the other side to disconnect from a segment that this side removes. */
    private static final Duration REMOVAL_TIMEOUT = Duration.ofSeconds(2);

    private final Node node;
    private final MessageReceiver receiver;
    private final LocalInterrupt arrived;
    private final LocalSegment areaSegment;
    private final LocalMap area;
    private final int areaBytes;
    private final Duration silence;
    private final ReentrantLock sending = new ReentrantLock();
    private volatile boolean stopped;

    // Set by connectTo(), before the wire is used.
    private @Nullable SisciEndpoint peer;
    private @Nullable MessageSender sender;
    private @Nullable RemoteInterrupt peerArrived;
    private @Nullable RemoteTarget peerArea;

    /** The buffers of the peer to which data was stored recently. Guarded by {@link #sending}. */
    private final LinkedHashMap<Integer, RemoteTarget> peerBuffers =
            new LinkedHashMap<>(16, 0.75f, true);

    /** A segment of the peer, to which this side stores with error checks. */
    private record RemoteTarget(RemoteSegment segment, RemoteMap map, Sequence sequence) {

        static RemoteTarget connect(Node node, int peer, int id, Deadline deadline)
                throws FabricException, InterruptedIOException {
            var segment = node.connect(peer, id, VerbsWire.remaining(deadline));
            try {
                // The owner waits for this disconnect when it removes the segment. receive() looks
                // for it, because the removal of the area is the end of the connection.
                segment.onEvent(event -> {
                    if (event.type() == SegmentEvent.Type.DISCONNECTED
                            || event.type() == SegmentEvent.Type.LOST) {
                        segment.close();
                    }
                });
                var map = segment.map();
                return new RemoteTarget(segment, map, map.newSequence());
            } catch (FabricException | RuntimeException e) {
                segment.close();
                throw e;
            }
        }
    }

    private SisciWire(Node node, NodeOptions options) throws SisciException {
        this.node = node;
        this.receiver = node.newMessageQueue(QUEUE_BYTES);
        this.arrived = node.newInterrupt();
        this.areaBytes = options.bulkBytes;
        this.silence = options.silence;
        this.areaSegment = newSegment(options.bulkBytes);
        this.area = areaSegment.map();
        areaSegment.offer();
    }

    private LocalSegment newSegment(int bytes) throws SisciException {
        var pages = Math.ceilDiv((long) bytes, PAGE);
        return node.newSegment(SegmentOptions.withFreeId(FIRST_SEGMENT, pages * PAGE));
    }

    /**
     * Connects to a listener.
     *
     * @param place the node id of the listener and the number of its data interrupt
     */
    static SisciWire connect(String place, NodeOptions options, Deadline deadline)
            throws IOException {
        var listener = SisciEndpoint.parsePlace(place);
        return open(
                options,
                wire -> {
                    try (var interrupt =
                            wire.node.connectDataInterrupt(
                                    listener.node(),
                                    listener.number(),
                                    VerbsWire.remaining(deadline))) {
                        interrupt.trigger(wire.endpoint().encode(), VerbsWire.remaining(deadline));
                    }
                    var answer =
                            ByteBuffer.wrap(wire.receiver.receive(VerbsWire.remaining(deadline)));
                    wire.connectTo(SisciEndpoint.decode(answer), deadline);
                });
    }

    /** Accepts the request of a peer. */
    static SisciWire accept(SisciEndpoint peer, NodeOptions options, Deadline deadline)
            throws IOException {
        return open(
                options,
                wire -> {
                    wire.connectTo(peer, deadline);
                    var answer = MemorySegment.ofArray(wire.endpoint().encode());
                    wire.sender().send(answer, VerbsWire.remaining(deadline));
                });
    }

    private interface Opening {
        void run(SisciWire wire) throws IOException;
    }

    private static SisciWire open(NodeOptions options, Opening opening) throws IOException {
        var node = Sisci.configured().open();
        try {
            var wire = new SisciWire(node, options);
            opening.run(wire);
            return wire;
        } catch (IOException | RuntimeException e) {
            node.close();
            throw e;
        }
    }

    private SisciEndpoint endpoint() {
        return new SisciEndpoint(
                node.id(), receiver.segmentId(), arrived.number(), areaSegment.id());
    }

    private void connectTo(SisciEndpoint endpoint, Deadline deadline)
            throws FabricException, InterruptedIOException {
        peer = endpoint;
        sender =
                node.connectMessageQueue(
                        endpoint.node(), endpoint.queue(), VerbsWire.remaining(deadline));
        peerArrived =
                node.connectInterrupt(
                        endpoint.node(), endpoint.interrupt(), VerbsWire.remaining(deadline));
        peerArea = RemoteTarget.connect(node, endpoint.node(), endpoint.area(), deadline);
    }

    private SisciEndpoint peer() {
        return requireNonNull(peer);
    }

    private MessageSender sender() {
        return requireNonNull(sender);
    }

    @Override
    public TransportKind transport() {
        return TransportKind.SISCI;
    }

    @Override
    public String toString() {
        return "sisci between node %d and node %d".formatted(node.id(), peer().node());
    }

    @Override
    public MemorySegment area() {
        return area.segment().asSlice(0, areaBytes);
    }

    @Override
    public NodeBuffer newBuffer(int bytes) throws FabricException {
        var segment = newSegment(bytes);
        try {
            var map = segment.map();
            segment.offer();
            return new NodeBuffer(
                    this,
                    map.segment().asSlice(0, bytes),
                    0,
                    segment.id(),
                    () -> BlockingCalls.start(() -> remove(segment, map)));
        } catch (SisciException | RuntimeException e) {
            segment.close();
            throw e;
        }
    }

    /** Requests the peer to disconnect from a segment, and removes the segment. */
    private static void remove(LocalSegment segment, LocalMap map) {
        map.close();
        try {
            segment.makeUnavailable(0, DisconnectFlag.NOTIFY);
        } catch (SisciException | IllegalStateException | UnsupportedOperationException _) {
            // the removal waits until the peer has disconnected for another reason
        }
        segment.close(REMOVAL_TIMEOUT);
    }

    @Override
    public void send(FrameHeader header, ByteBuffer payload, MemorySegment data, Deadline deadline)
            throws IOException {
        try {
            if (!sending.tryLock(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS)) {
                throw deadline.missed("The peer received no messages");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting to send a message");
        }
        try {
            if (header.carriesData()) {
                store(header, data, deadline);
            }
            var message = ByteBuffer.allocate(FrameHeader.BYTES + payload.remaining());
            header.encode(message);
            message.put(payload.duplicate()).flip();
            sendMessage(MemorySegment.ofBuffer(message), deadline);
        } catch (IllegalStateException e) {
            throw new VolumeException("the connection is closed: " + e.getMessage(), e);
        } finally {
            sending.unlock();
        }
    }

    private void sendMessage(MemorySegment message, Deadline deadline) throws IOException {
        while (!sender().trySend(message)) {
            if (stopped) {
                throw new VolumeException("the connection is closed");
            }
            if (deadline.hasPassed()) {
                throw deadline.missed("The peer received no messages");
            }
            LockSupport.parkNanos(50_000);
        }
        requireNonNull(peerArrived).trigger();
    }

    private void store(FrameHeader header, MemorySegment data, Deadline deadline)
            throws IOException {
        if (header.kind() == Kind.REQUEST) {
            requireNonNull(peerArea).sequence().copyFrom(data, header.areaOffset());
        } else {
            peerBuffer(header.key(), deadline).sequence().copyFrom(data, header.address());
        }
    }

    private RemoteTarget peerBuffer(int id, Deadline deadline) throws IOException {
        var known = peerBuffers.get(id);
        if (known != null && known.segment().isOpen()) {
            return known;
        }
        // The peer may name a segment that does not exist.
        var limit = Deadline.after(silence).earlier(deadline);
        var target = RemoteTarget.connect(node, peer().node(), id, limit);
        peerBuffers.put(id, target);
        if (peerBuffers.size() > MAX_PEER_BUFFERS) {
            var eldest = peerBuffers.pollFirstEntry();
            eldest.getValue().segment().close();
        }
        return target;
    }

    @Override
    public Frame receive() throws IOException {
        var copy = new byte[1][];
        while (!stopped) {
            if (receiver.tryReceive(
                    (memory, offset, bytes) ->
                            copy[0] =
                                    memory.asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE))) {
                return Frame.decode(ByteBuffer.wrap(copy[0]));
            }
            var target = requireNonNull(peerArea).segment();
            if (!target.isOpen() || target.link() == RemoteSegment.Link.LOST) {
                throw new VolumeException("the peer has disconnected or is lost");
            }
            try {
                arrived.await(POLL_INTERVAL);
            } catch (FabricTimeoutException _) {
                // an interrupt can be lost if the link fails temporarily
            }
        }
        throw new VolumeException("the connection is closed");
    }

    @Override
    public void receiveData(MemorySegment target) {
        // the peer has stored the data
    }

    @Override
    public void fetchData(FrameHeader request, MemorySegment target, Deadline deadline) {
        // the peer has stored the data
    }

    @Override
    public void shutdown() {
        stopped = true;
        BlockingCalls.start(arrived::close); // wakes up the receiving thread
    }

    @Override
    public void close() {
        arrived.close();
        peerBuffers.values().forEach(target -> target.segment().close());
        if (peerArea != null) {
            peerArea.segment().close();
        }
        if (sender != null) {
            sender.close();
        }
        receiver.close();
        remove(areaSegment, area);
        node.close();
    }
}
