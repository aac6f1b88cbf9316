package org.jrdma.volume.net;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.BulkData.Direction;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection over a reliable queue pair. Frames are messages. The serving side moves bulk data
 * between its area and the buffer of the caller by RDMA READ and RDMA WRITE, so that its own memory
 * is not accessible for peers. If both nodes select it, the accepting side moves the data of large
 * reads of the connecting side by datagrams of other queue pairs; see {@link DatagramReceiver}.
 *
 * <p>Flow control needs no credits, because the number of calls is limited: the receive queue has a
 * request for each call of the peer, for the reply to each own call, and for some other frames.
 */
final class VerbsWire implements Wire {

    private static final int SLOT_BYTES =
            (FrameHeader.BYTES + NodeConnection.MAX_MESSAGE_BYTES + 63) / 64 * 64;

    /**
     * The number of frames that belong to no call: those of the handshake, of the disconnect, of
     * the keep-alive, and about datagrams.
     */
    private static final int OTHER_FRAMES = 5;

    private static final int SEND_SLOTS = 16;

    /** The part of the silence timeout after which a request is retransmitted. */
    private static final int RETRANSMISSIONS = 32;

    private static final Logger LOG = LoggerFactory.getLogger(VerbsWire.class);

    private final Device device;
    private final ProtectionDomain domain;
    private final CompletionDispatcher completions;
    private final MemoryRegion area;
    private final MemoryRegion outgoing;
    private final MemoryRegion incoming;
    private final Connection<AsyncQueuePair> connection;
    private final AsyncQueuePair queuePair;
    private final Duration silence;

    /** The registered memory of the buffers, by remote key. */
    private final Map<Integer, MemoryRegion> buffers = new ConcurrentHashMap<>();

    /** Null on the accepting side, or if reads use no datagrams. */
    private final @Nullable DatagramReceiver receiver;

    /** Null on the connecting side, or if reads use no datagrams. */
    private final @Nullable DatagramSender sender;

    /** The reason for which there is no receiver; null if it was not selected. */
    private final @Nullable String datagramFailure;

    private final BlockingQueue<Integer> freeSlots = new LinkedBlockingQueue<>();

    /** The posted receive requests, in the order of the slots. Used by the receiving thread. */
    private final Transfer[] receives;

    private int nextReceive;

    /** The first failure of a request; null if there was none. */
    private volatile @Nullable Completion failure;

    /** Connects a queue pair with the given options. */
    @FunctionalInterface
    interface Connector {
        Connection<AsyncQueuePair> connect(
                ProtectionDomain domain, ConnectionOptions<AsyncQueuePair> options)
                throws IOException;
    }

    /**
     * Creates a wire on a device. The wire opens the device itself, so that it depends on no other
     * wire and no listener.
     *
     * @param request the connect request of the peer; empty if this side connects
     */
    static VerbsWire open(
            String deviceName,
            int port,
            Optional<ConnectionRequest> request,
            NodeOptions options,
            Connector connector)
            throws IOException {
        var device = Verbs.configured().open(deviceName);
        try {
            return new VerbsWire(device, port, request, options, connector);
        } catch (IOException | RuntimeException e) {
            device.close();
            throw e;
        }
    }

    private VerbsWire(
            Device device,
            int port,
            Optional<ConnectionRequest> request,
            NodeOptions options,
            Connector connector)
            throws IOException {
        this.device = device;
        this.silence = options.silence;
        this.domain = device.newProtectionDomain();
        this.receives = new Transfer[2 * options.calls + OTHER_FRAMES];
        var sends = SEND_SLOTS + options.calls;
        // The queue pairs share a completion queue, so the datagrams that arrived before a frame
        // also complete before it.
        var datagrams =
                options.datagramReads ? DatagramReceiver.WINDOW + DatagramSender.SENDS + 2 : 0;
        this.completions = device.newCompletionDispatcher(sends + receives.length + 1 + datagrams);
        var arena = domain.newArena(Access.LOCAL_WRITE);
        this.area = arena.region(options.bulkBytes);
        this.outgoing = arena.region((long) SEND_SLOTS * SLOT_BYTES);
        this.incoming = arena.region((long) receives.length * SLOT_BYTES);
        for (var slot = 0; slot < SEND_SLOTS; slot++) {
            freeSlots.add(slot);
        }
        @Nullable DatagramReceiver newReceiver = null;
        @Nullable DatagramSender newSender = null;
        @Nullable String failed = null;
        var privateData = new byte[0];
        try {
            var offer = request.map(ConnectionRequest::privateData).flatMap(DatagramOffer::decode);
            if (options.datagramReads && request.isEmpty()) {
                newReceiver = new DatagramReceiver(domain, completions, port);
                privateData = newReceiver.offer().encode();
            } else if (options.datagramReads && offer.isPresent()) {
                checkAddress(offer.get(), request.get().peerAddress());
                newSender = new DatagramSender(domain, completions, port, offer.get(), silence);
                privateData = DatagramOffer.answer(newSender.maxDatagramBytes());
            }
        } catch (IOException | RuntimeException e) {
            failed = String.valueOf(e.getMessage());
            LOG.info("Reads over {} use no datagrams: {}", device.name(), failed);
        }
        this.receiver = newReceiver;
        this.sender = newSender;
        this.datagramFailure = failed;
        var connectionOptions =
                ConnectionOptions.of(
                                QueuePairOptions.reliable(completions)
                                        .sends(sends)
                                        .receives(receives.length))
                        .acknowledgeTimeout(options.silence.dividedBy(RETRANSMISSIONS))
                        .privateData(privateData)
                        .prepared(this::postReceives);
        this.connection = connector.connect(domain, connectionOptions);
        this.queuePair = connection.queuePair();
        if (receiver != null) {
            receiver.start(DatagramOffer.decodeAnswer(connection.privateData()));
        }
    }

    /** Rejects an offer by which this node would send datagrams to another host. */
    private static void checkAddress(DatagramOffer offer, InetSocketAddress peer)
            throws ProtocolException {
        if (!offer.isFor(peer.getAddress())) {
            throw new ProtocolException(
                    "the peer expects them at %s, but connects from %s"
                            .formatted(offer.endpoint().gid(), AddressText.of(peer)));
        }
    }

    /**
     * Connects to a listener.
     *
     * @param place the host and the port, separated by a colon
     */
    static VerbsWire connect(String place, NodeOptions options, Deadline deadline)
            throws IOException {
        var address = HostAndPort.parse(place).resolve();
        try (var route = ConnectionManager.configured().resolve(address, remaining(deadline))) {
            return open(
                    route.deviceName(),
                    route.devicePort(),
                    Optional.empty(),
                    options,
                    (domain, chosen) -> route.connect(domain, chosen, remaining(deadline)));
        }
    }

    static Duration remaining(Deadline deadline) {
        return Duration.ofNanos(Math.max(0, deadline.remainingNanos()));
    }

    private void postReceives(AsyncQueuePair created) throws IOException {
        for (var slot = 0; slot < receives.length; slot++) {
            receives[slot] = created.receive(incoming.slice((long) slot * SLOT_BYTES, SLOT_BYTES));
        }
    }

    @Override
    public TransportKind transport() {
        return TransportKind.VERBS;
    }

    @Override
    public String toString() {
        return "verbs (%s%s) between %s and %s"
                .formatted(
                        device.name(),
                        datagramState(),
                        AddressText.of(connection.localAddress()),
                        AddressText.of(connection.peerAddress()));
    }

    private String datagramState() {
        if (receiver != null) {
            return ", " + receiver.state();
        }
        return datagramFailure == null ? "" : ", no datagrams: " + datagramFailure;
    }

    @Override
    public MemorySegment area() {
        return area.segment();
    }

    @Override
    public NodeBuffer newBuffer(int bytes) throws FabricException {
        var arena = domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
        try {
            var region = arena.region(bytes);
            var remote = region.remote();
            buffers.put(remote.key(), region);
            return new NodeBuffer(
                    this,
                    region.segment(),
                    remote.address(),
                    remote.key(),
                    () -> {
                        buffers.remove(remote.key());
                        arena.close();
                    });
        } catch (VerbsException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    @Override
    public void send(
            FrameHeader header, ByteBuffer payload, MemorySegment ignored, Deadline deadline)
            throws IOException {
        var isReply = header.kind() == Kind.REPLY && header.direction() == Direction.FROM_PEER;
        if (isReply && header.datagrams() > 0) {
            var hasArrived = sendDatagrams(header);
            send(header, payload, !hasArrived, deadline);
        } else if (header.kind() == Kind.REQUEST && header.direction() == Direction.FROM_PEER) {
            try {
                send(expectDatagrams(header), payload, false, deadline);
            } catch (Throwable e) {
                endDatagrams(header);
                throw e;
            }
        } else {
            send(header, payload, isReply, deadline);
        }
    }

    /** Sends a frame, after the bulk data of a reply if {@code isWrite} is true. */
    private void send(FrameHeader header, ByteBuffer payload, boolean isWrite, Deadline deadline)
            throws IOException {
        var slot = takeSlot(deadline);
        Transfer sent;
        try {
            if (isWrite) {
                // The reply follows the data on the same queue pair, so this thread need not wait.
                watch(queuePair.write(ownData(header), callersBuffer(header)), () -> {});
            }
            var start = (long) slot * SLOT_BYTES;
            var bytes = FrameHeader.BYTES + payload.remaining();
            var message = outgoing.segment().asSlice(start, bytes).asByteBuffer();
            header.encode(message);
            message.put(payload.duplicate());
            sent = queuePair.send(outgoing.slice(start, bytes));
        } catch (IllegalStateException e) {
            freeSlots.add(slot);
            throw new VolumeException("the queue pair is closed", e);
        } catch (IOException | RuntimeException e) {
            freeSlots.add(slot);
            throw e;
        }
        watch(sent, () -> freeSlots.add(slot));
        if (header.kind() == Kind.CLOSE) {
            sent.await(remaining(deadline)); // shutdown() follows, and would flush the message
        }
    }

    private MemorySlice ownData(FrameHeader header) {
        return area.slice(header.areaOffset(), header.bulkBytes());
    }

    /** Sends the bulk data of a reply by datagrams. Returns true if all of them have arrived. */
    private boolean sendDatagrams(FrameHeader header) throws IOException {
        if (sender == null) {
            throw new ProtocolException("the peer expects datagrams that were not agreed on");
        }
        return sender.send(header.call(), header.datagrams(), ownData(header), this::send);
    }

    /** Posts receives for the datagrams of a request, if they are used. */
    private FrameHeader expectDatagrams(FrameHeader header) {
        var region = receiver == null ? null : buffers.get(header.key());
        if (receiver == null || region == null) {
            return header;
        }
        var target = region.slice(header.address() - region.remote().address(), header.bulkBytes());
        return header.expecting(receiver.begin(header.call(), target));
    }

    private void endDatagrams(FrameHeader header) {
        if (receiver != null) {
            receiver.end(header.call());
        }
    }

    private void send(Frame frame) throws IOException {
        send(frame.header(), frame.payload(), false, Deadline.after(silence));
    }

    private int takeSlot(Deadline deadline) throws FabricException, InterruptedIOException {
        try {
            var slot = freeSlots.poll(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
            if (slot == null) {
                throw deadline.missed("The peer received no messages");
            }
            return slot;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting to send a message");
        }
    }

    private static RemoteMemory callersBuffer(FrameHeader header) {
        return new RemoteMemory(header.address(), header.key(), header.bulkBytes());
    }

    /**
     * Runs an action when a request has completed. Records the first failure, which is the cause
     * for which the receives are flushed.
     */
    private void watch(Transfer transfer, Runnable completed) {
        var _ =
                transfer.future()
                        .whenComplete((completion, _) -> {
                            if (completion != null && !completion.isSuccess() && failure == null) {
                                failure = completion;
                            }
                            completed.run();
                        });
    }

    @Override
    public Frame receive() throws IOException {
        var frame = receiveNext();
        while (handleDatagramFrame(frame)) {
            frame = receiveNext();
        }
        return frame;
    }

    /** Handles a frame about datagrams. Returns false for a frame that the connection handles. */
    private boolean handleDatagramFrame(Frame frame) throws IOException {
        return switch (frame.header().kind()) {
            case SENT -> {
                if (receiver != null) {
                    send(receiver.sent(frame.header().call()));
                }
                yield receiver != null;
            }
            case MISSING, ARRIVED -> {
                if (sender != null) {
                    sender.answered(frame);
                }
                yield sender != null;
            }
            case REPLY, FAILURE -> {
                endDatagrams(frame.header());
                yield false;
            }
            default -> false;
        };
    }

    private Frame receiveNext() throws IOException {
        var slot = nextReceive;
        nextReceive = (slot + 1) % receives.length;
        try {
            var completion = receives[slot].awaitCompletion(Deadline.NEVER.duration());
            if (!completion.isSuccess()) {
                throw disconnected(completion);
            }
            var start = (long) slot * SLOT_BYTES;
            var message = ByteBuffer.allocate(completion.bytes());
            message.put(incoming.segment().asSlice(start, completion.bytes()).asByteBuffer())
                    .flip();
            // The slot must be free again before the peer gets a reply and sends its next request.
            receives[slot] = queuePair.receive(incoming.slice(start, SLOT_BYTES));
            return Frame.decode(message);
        } catch (IllegalStateException e) {
            throw new VolumeException("the queue pair is closed", e);
        }
    }

    private VolumeException disconnected(Completion completion) {
        var cause = failure == null ? completion : failure;
        return new VolumeException(
                "the peer has disconnected or does not answer (%s, %s)"
                        .formatted(cause.status(), cause.status().meaning()));
    }

    @Override
    public void receiveData(MemorySegment target) {
        // the handling thread moves the data
    }

    @Override
    public void fetchData(FrameHeader request, MemorySegment target, Deadline deadline)
            throws IOException {
        queuePair.read(ownData(request), callersBuffer(request)).await(remaining(deadline));
    }

    @Override
    public void shutdown() {
        if (receiver != null) {
            receiver.shutdown();
        }
        if (sender != null) {
            sender.shutdown();
        }
        try {
            connection.disconnect(Duration.ZERO);
        } catch (IOException | IllegalStateException _) {
            // does not wait for the peer, or the connection has already ended
        }
    }

    @Override
    public void close() {
        connection.close();
        device.close();
    }
}
