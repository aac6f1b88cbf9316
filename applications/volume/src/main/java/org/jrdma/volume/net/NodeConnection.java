package org.jrdma.volume.net;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.BulkData.Direction;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection between two nodes. Both sides can make calls: a small request and a small reply,
 * with bulk data in one direction.
 *
 * <p>Calls of several threads are in progress at the same time, and can overtake each other. A
 * connection ends if one side closes it, if the transport fails, if the peer is silent for too
 * long, or if the peer violates the protocol or its limits. All outstanding calls then fail at
 * once. Safe for use by multiple threads.
 */
public final class NodeConnection implements AutoCloseable {

    /** The maximum length of a request and of a reply. */
    public static final int MAX_MESSAGE_BYTES = 60 << 10;

    private static final int MAX_REASON_CHARACTERS = 1000;
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration ANNOUNCE_TIMEOUT = Duration.ofMillis(100);
    private static final Logger LOG = LoggerFactory.getLogger(NodeConnection.class);

    /** The connection whose request the current thread handles. */
    private static final ThreadLocal<NodeConnection> SERVED = new ThreadLocal<>();

    private final Wire wire;
    private final NodeOptions options;
    private final RequestHandler handler;
    private final List<SkippedTransport> attempts;
    private final OutgoingCalls calls;
    private final KeepAlive keepAlive;
    private final AtomicInteger served = new AtomicInteger();
    private final AtomicReference<@Nullable ConnectionLostException> end = new AtomicReference<>();
    private final CompletableFuture<ConnectionLostException> ended = new CompletableFuture<>();
    private final CompletableFuture<Void> freed = new CompletableFuture<>();

    /** Another thread frees the memory, because the last user may be a caller with a deadline. */
    private final Users users = new Users(() -> BlockingCalls.start(this::free));

    private NodeConnection(
            Wire wire,
            NodeOptions options,
            RequestHandler handler,
            HelloWithLimits peer,
            List<SkippedTransport> attempts) {
        this.wire = wire;
        this.options = options;
        this.handler = handler;
        this.attempts = List.copyOf(attempts);
        this.calls =
                new OutgoingCalls(wire, Math.min(options.calls, peer.calls()), peer.areaBytes());
        this.keepAlive = new KeepAlive(options.silence, this::ping, reason -> end(reason, null));
        var _ = freed.thenRun(() -> handler.disconnected(this, lost()));
    }

    /** Connects to a node whose requests this node rejects. */
    public static NodeConnection connect(
            List<String> addresses, NodeOptions options, Deadline deadline) throws IOException {
        return connect(addresses, options, RequestHandler.NONE, deadline);
    }

    /**
     * Connects to a node over the first transport of the options that works. {@link #attempts()}
     * returns the transports that did not work.
     *
     * @param addresses the addresses that the node's {@link NodeListener} returned
     * @param handler handles the requests of the peer
     * @param deadline the deadline of all attempts together. Each attempt may use an equal part of
     *     the remaining time
     * @throws VolumeException if no transport works; the message has the reason for each
     */
    public static NodeConnection connect(
            List<String> addresses, NodeOptions options, RequestHandler handler, Deadline deadline)
            throws IOException {
        var failures = new ArrayList<SkippedTransport>();
        var candidates = WireAddress.select(addresses, options);
        for (var index = 0; index < candidates.size(); index++) {
            var address = candidates.get(index);
            var part = Math.max(0, deadline.remainingNanos()) / (candidates.size() - index);
            try {
                return connect(
                        address,
                        options,
                        handler,
                        failures,
                        Deadline.after(Duration.ofNanos(part)));
            } catch (InterruptedIOException | ClosedByInterruptException e) {
                throw e;
            } catch (IOException e) {
                failures.add(address.failed(e));
            }
        }
        throw new VolumeException(
                failures.isEmpty()
                        ? "No address of %s has a transport of %s"
                                .formatted(addresses, options.transports)
                        : failures.stream()
                                .map(SkippedTransport::toString)
                                .collect(Collectors.joining("; ", "Cannot connect to ", "")));
    }

    /** Connects to one address. */
    static NodeConnection connect(
            WireAddress address,
            NodeOptions options,
            RequestHandler handler,
            List<SkippedTransport> failures,
            Deadline deadline)
            throws IOException {
        var wire = Wire.connect(address, options, deadline);
        var peer =
                Handshake.run(
                        wire,
                        deadline,
                        () -> {
                            send(wire, options, deadline);
                            return HelloWithLimits.decode(wire.receive());
                        });
        return new NodeConnection(wire, options, handler, peer, failures).start();
    }

    /** Serves a connection that a listener has accepted. */
    static NodeConnection accept(
            Wire wire, NodeOptions options, RequestHandler handler, Deadline deadline)
            throws IOException {
        var peer =
                Handshake.run(
                        wire,
                        deadline,
                        () -> {
                            var hello = HelloWithLimits.decode(wire.receive());
                            send(wire, options, deadline);
                            return hello;
                        });
        return new NodeConnection(wire, options, handler, peer, List.of());
    }

    private static void send(Wire wire, NodeOptions options, Deadline deadline) throws IOException {
        var hello = new HelloWithLimits(options.calls, options.bulkBytes).encode();
        wire.send(
                FrameHeader.of(Kind.HELLO, hello.remaining()), hello, MemorySegment.NULL, deadline);
    }

    /** Starts to receive. */
    NodeConnection start() {
        LOG.debug("Connected: {}", wire);
        if (users.enter()) { // the receiving thread leaves
            keepAlive.start(wire.toString());
            Thread.ofVirtual().name("jrdma-receive-" + wire).start(this::receiveAll);
        }
        return this;
    }

    /** The transport of this connection. */
    public TransportKind transport() {
        return wire.transport();
    }

    /** The transports that were preferred to {@link #transport()} and did not work. */
    public List<SkippedTransport> attempts() {
        return attempts;
    }

    /** The maximum length of the bulk data of a call, which the peer determines. */
    public int maxBulkBytes() {
        return calls.maxBulkBytes();
    }

    /** Returns the reason for which this connection has ended; empty if it is open. */
    public Optional<ConnectionLostException> end() {
        return Optional.ofNullable(end.get());
    }

    /** Returns a future that completes with the reason when the connection has ended. */
    public CompletableFuture<ConnectionLostException> ended() {
        return ended.copy();
    }

    /**
     * Creates a buffer for the bulk data of calls over this connection.
     *
     * @throws ConnectionLostException if the connection has ended
     * @throws FabricException if the transport fails to allocate or register the memory
     */
    public NodeBuffer newBuffer(int bytes) throws FabricException {
        enter();
        try {
            return wire.newBuffer(bytes);
        } finally {
            users.leave();
        }
    }

    /** Makes a call without bulk data. */
    public ByteBuffer call(ByteBuffer request, Deadline deadline) throws IOException {
        return call(request, null, deadline);
    }

    /**
     * Makes a call, and waits for the reply.
     *
     * <p>The call waits until the peer can serve it. If the peer stops reading in the middle of a
     * request, the connection ends after {@link NodeOptions#silence}, which can be after the
     * deadline.
     *
     * @param request the request, of at most {@link #MAX_MESSAGE_BYTES} bytes
     * @param bulk the bulk data; null for none
     * @return the reply, which belongs to the caller
     * @throws RequestFailedException if the handler of the peer failed
     * @throws ConnectionLostException if the connection has ended or ends
     * @throws org.jrdma.ffi.FabricTimeoutException if there is no reply before the deadline. The
     *     peer may execute the call later; {@link NodeBuffer} describes what happens to the buffer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set.
     *     An interrupt while the thread sends over sockets ends the connection
     * @throws IllegalArgumentException if the request or the bulk data is too long, or the buffer
     *     belongs to another connection
     */
    public ByteBuffer call(ByteBuffer request, @Nullable BulkData bulk, Deadline deadline)
            throws IOException {
        checkArguments(request, bulk);
        return send(request, bulk, deadline).await(deadline, wire);
    }

    private void checkArguments(ByteBuffer request, @Nullable BulkData bulk) {
        if (request.remaining() > MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException(
                    "The request has %d bytes; the maximum is %d"
                            .formatted(request.remaining(), MAX_MESSAGE_BYTES));
        }
        if (bulk != null && bulk.bytes() > maxBulkBytes()) {
            throw new IllegalArgumentException(
                    "The bulk data has %d bytes; the maximum of the peer is %d"
                            .formatted(bulk.bytes(), maxBulkBytes()));
        }
        if (bulk != null && !bulk.buffer().isOwnedBy(wire)) {
            throw new IllegalArgumentException("The buffer belongs to another connection");
        }
    }

    private PendingCall send(ByteBuffer request, @Nullable BulkData bulk, Deadline deadline)
            throws IOException {
        enter();
        try {
            var call = calls.send(request, bulk, deadline);
            keepAlive.sent();
            return call;
        } catch (FabricTimeoutException | InterruptedIOException | ConnectionLostException e) {
            throw e;
        } catch (IOException e) {
            end(String.valueOf(e.getMessage()), e);
            throw lost();
        } finally {
            users.leave();
        }
    }

    private void enter() throws ConnectionLostException {
        if (end.get() != null || !users.enter()) {
            throw lost();
        }
    }

    /** Returns an exception of the current thread for the end of this connection. */
    private ConnectionLostException lost() {
        var reason = end.get();
        return new ConnectionLostException(
                reason == null ? "%s has ended".formatted(wire) : reason.getMessage(), reason);
    }

    private void receiveAll() {
        try {
            while (true) {
                var frame = wire.receive();
                keepAlive.received();
                receive(frame);
            }
        } catch (ProtocolException e) {
            announceEnd();
            if (end(String.valueOf(e.getMessage()), e)) {
                LOG.warn("Disconnected {}: {}", wire, e.getMessage());
            }
        } catch (IOException | RuntimeException e) {
            end(String.valueOf(e.getMessage()), e);
        } finally {
            users.leave();
        }
    }

    private void receive(Frame frame) throws IOException {
        switch (frame.header().kind()) {
            case REQUEST -> receiveRequest(frame);
            case REPLY, FAILURE -> calls.replied(frame);
            case PING -> {}
            case CLOSE -> throw new VolumeException("the peer closed the connection");
            case HELLO -> throw new ProtocolException("the peer sent a second handshake message");
            case SENT, MISSING, ARRIVED ->
                    throw new ProtocolException("the peer sent a message about datagrams");
        }
    }

    private void receiveRequest(Frame frame) throws IOException {
        var header = frame.header();
        if (served.incrementAndGet() > options.calls) {
            throw new ProtocolException(
                    "the peer makes more than %d calls at the same time".formatted(options.calls));
        }
        var data = MemorySegment.NULL;
        if (header.direction() != null) {
            if (header.bulkBytes() > options.bulkBytes - header.areaOffset()) {
                throw new ProtocolException(
                        "the peer sent %d bytes of bulk data at %d; the limit is %d"
                                .formatted(
                                        header.bulkBytes(),
                                        header.areaOffset(),
                                        options.bulkBytes));
            }
            data = wire.area().asSlice(header.areaOffset(), header.bulkBytes());
            if (header.direction() == Direction.TO_PEER) {
                wire.receiveData(data);
            }
        }
        var memory = data;
        if (users.enter()) {
            Thread.ofVirtual()
                    .name("jrdma-serve-" + header.call())
                    .start(() -> {
                        try {
                            serve(frame, memory);
                        } finally {
                            users.leave();
                        }
                    });
        }
    }

    private void serve(Frame frame, MemorySegment data) {
        var header = frame.header();
        SERVED.set(this);
        try {
            if (header.direction() == Direction.TO_PEER) {
                wire.fetchData(header, data, Deadline.after(options.silence));
            }
            var kind = Kind.REPLY;
            ByteBuffer reply;
            try {
                reply =
                        handler.handle(
                                new Request(this, frame.payload(), header.direction(), data));
                if (reply.remaining() > MAX_MESSAGE_BYTES) {
                    throw new VolumeException(
                            "The handler returned a reply of %d bytes; the maximum is %d."
                                    .formatted(reply.remaining(), MAX_MESSAGE_BYTES));
                }
            } catch (IOException | RuntimeException | Error e) {
                LOG.debug("A request over {} failed", wire, e);
                kind = Kind.FAILURE;
                reply = reason(e);
            }
            served.decrementAndGet(); // before the reply, because the peer may then call again
            wire.send(header.reply(kind, reply.remaining()), reply, data, Deadline.NEVER);
            keepAlive.sent();
        } catch (IOException | RuntimeException e) {
            end(String.valueOf(e.getMessage()), e);
        } finally {
            SERVED.remove();
        }
    }

    private static ByteBuffer reason(Throwable e) {
        var text = String.valueOf(e.getMessage() == null ? e : e.getMessage());
        return StandardCharsets.UTF_8.encode(
                text.substring(0, Math.min(MAX_REASON_CHARACTERS, text.length())));
    }

    private void ping() {
        try {
            if (users.enter()) {
                try {
                    send(Kind.PING, Deadline.NEVER);
                } finally {
                    users.leave();
                }
            }
        } catch (IOException | RuntimeException e) {
            end(String.valueOf(e.getMessage()), e);
        }
    }

    private void send(Kind kind, Deadline deadline) throws IOException {
        wire.send(FrameHeader.of(kind, 0), ByteBuffer.allocate(0), MemorySegment.NULL, deadline);
        keepAlive.sent();
    }

    /** Ends the connection. Returns false if it had already ended. */
    private boolean end(String reason, @Nullable Throwable cause) {
        var exception =
                new ConnectionLostException(
                        "The connection over %s has ended: %s".formatted(wire, reason), cause);
        if (!end.compareAndSet(null, exception)) {
            return false;
        }
        LOG.debug("{}", exception.getMessage());
        wire.shutdown();
        keepAlive.stop();
        calls.end(exception);
        users.close();
        var _ = ended.completeAsync(() -> exception);
        return true;
    }

    /** Runs when the connection has ended and no thread uses the wire. */
    private void free() {
        try {
            wire.close();
        } finally {
            freed.complete(null);
        }
    }

    /** Returns a future that completes when the connection has ended and released everything. */
    CompletableFuture<Void> freed() {
        return freed.copy();
    }

    /**
     * Sends a last message, because not every transport reports the end of a connection at once.
     */
    private void announceEnd() {
        if (end.get() == null && users.enter()) {
            try {
                send(Kind.CLOSE, Deadline.after(ANNOUNCE_TIMEOUT));
            } catch (IOException | RuntimeException e) {
                LOG.debug("Cannot announce the end of {}: {}", wire, e.getMessage());
            } finally {
                users.leave();
            }
        }
    }

    /**
     * Closes the connection. All outstanding calls fail. Waits up to five seconds until no thread
     * handles a request of the peer, unless the current thread itself handles one.
     */
    @Override
    public void close() {
        announceEnd();
        end("this node closed the connection", null);
        if (SERVED.get() != this) {
            try {
                freed.get(CLOSE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                LOG.warn(
                        "{} is not freed yet: a request is still being handled, or the peer does not answer.",
                        wire);
            } catch (ExecutionException e) {
                throw new IllegalStateException(e); // the future never fails
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String toString() {
        return wire.toString();
    }
}
