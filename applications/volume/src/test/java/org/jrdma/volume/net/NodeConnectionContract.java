package org.jrdma.volume.net;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.model.SisciException;
import org.jrdma.volume.net.BulkData.Direction;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The behavior of connections that does not depend on the transport. */
@Timeout(60)
abstract class NodeConnectionContract {

    private static final int CALLS = 4;
    private static final Duration SILENCE = Duration.ofSeconds(2);

    private final TestRequestHandler server = new TestRequestHandler();
    private final TestRequestHandler client = new TestRequestHandler();
    private NodeOptions options;
    private NodeListener listener;

    static {
        SoftwareFabrics.select();
    }

    abstract TransportKind transport();

    NodeOptions options() {
        return NodeOptions.of(transport());
    }

    /** Fails if native objects of the transport are open. */
    abstract void assertNothingIsOpen() throws Exception;

    @BeforeEach
    void open() throws IOException {
        options =
                options()
                        .calls(CALLS)
                        .silence(SILENCE)
                        .socketAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        listener = NodeListener.open(options, server);
    }

    @AfterEach
    void close() throws Exception {
        server.gate.countDown();
        listener.close();
        assertNothingIsOpen();
    }

    private NodeConnection connect() throws IOException {
        return NodeConnection.connect(
                listener.addresses(), options, client, TestRequestHandler.deadline());
    }

    private static ByteBuffer utf8(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private static String text(ByteBuffer bytes) {
        return UTF_8.decode(bytes).toString();
    }

    @Test
    void shouldReplyToCallsOfManyThreadsBeyondTheLimitOfThePeer() throws Exception {
        try (var connection = connect();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            assertThat(connection.transport()).isEqualTo(transport());
            var futures = new ArrayList<Future<?>>();
            for (var thread = 0; thread < 5 * CALLS; thread++) {
                var name = "thread " + thread;
                futures.add(
                        threads.submit(() -> {
                            for (var call = 0; call < 20; call++) {
                                var message = name + ", call " + call;
                                var reply =
                                        connection.call(
                                                TestRequestHandler.echo(utf8(message)),
                                                TestRequestHandler.deadline());
                                assertThat(text(reply)).isEqualTo(message);
                            }
                            return null;
                        }));
            }
            for (var future : futures) {
                future.get();
            }
        }
    }

    @Test
    void shouldTransferTheLongestMessage() throws Exception {
        try (var connection = connect()) {
            var content = ByteBuffer.allocate(NodeConnection.MAX_MESSAGE_BYTES - 1);
            TestRequestHandler.fill(MemorySegment.ofBuffer(content), 7);

            var reply =
                    connection.call(
                            TestRequestHandler.echo(content), TestRequestHandler.deadline());

            assertThat(reply).isEqualTo(content);
        }
    }

    @Test
    void shouldRejectArgumentsBeyondTheLimits() throws Exception {
        try (var connection = connect();
                var other = connect()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() ->
                            connection.call(
                                    ByteBuffer.allocate(NodeConnection.MAX_MESSAGE_BYTES + 1),
                                    TestRequestHandler.deadline()));
            var bytes = connection.maxBulkBytes() + 1;
            var large = connection.newBuffer(bytes);
            assertThatIllegalArgumentException()
                    .isThrownBy(() ->
                            connection.call(
                                    TestRequestHandler.request(TestRequestHandler.SUM),
                                    large.toPeer(0, bytes),
                                    TestRequestHandler.deadline()));
            assertThatIllegalArgumentException()
                    .isThrownBy(() ->
                            other.call(
                                    TestRequestHandler.request(TestRequestHandler.SUM),
                                    large.toPeer(0, 1),
                                    TestRequestHandler.deadline()));
            assertThat(server.handled).hasValue(0);
        }
    }

    @Test
    void shouldCallInBothDirections() throws Exception {
        try (var connection = connect()) {
            var reply =
                    connection.call(
                            TestRequestHandler.request(
                                    TestRequestHandler.CALL_BACK, utf8("forth and return")),
                            TestRequestHandler.deadline());

            assertThat(text(reply)).isEqualTo("forth and return");
            assertThat(client.handled).hasValue(1);

            var request = ByteBuffer.allocate(12).putInt(100_001).putLong(5).flip();
            var sum =
                    connection.call(
                            TestRequestHandler.request(TestRequestHandler.SEND_BACK, request),
                            TestRequestHandler.deadline());
            assertThat(sum.getLong()).isEqualTo(TestRequestHandler.sum(100_001, 5));
        }
    }

    @Test
    void shouldTransferBulkDataInBothDirections() throws Exception {
        try (var connection = connect();
                var buffer = connection.newBuffer(4 << 20)) {
            for (var bytes : new int[] {1, 4095, 4096, 1_000_003, 4 << 20}) {
                var offset = Math.min(13, buffer.byteSize() - bytes);
                var range = buffer.memory().asSlice(offset, bytes);
                TestRequestHandler.fill(range, bytes);

                var sum =
                        connection.call(
                                TestRequestHandler.request(TestRequestHandler.SUM),
                                buffer.toPeer(offset, bytes),
                                TestRequestHandler.deadline());
                assertThat(sum.getLong()).isEqualTo(TestRequestHandler.sum(bytes, bytes));

                var seed = bytes + 1L;
                var reply =
                        connection.call(
                                TestRequestHandler.request(
                                        TestRequestHandler.FILL,
                                        TestRequestHandler.longValue(seed)),
                                buffer.fromPeer(offset, bytes),
                                TestRequestHandler.deadline());
                assertThat(reply.remaining()).isZero();
                assertThat(TestRequestHandler.sum(range))
                        .isEqualTo(TestRequestHandler.sum(bytes, seed));
            }
        }
    }

    @Test
    void shouldTransferBulkDataOfManyThreadsWithinTheMemoryOfThePeer() throws Exception {
        try (var connection = connect();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var futures = new ArrayList<Future<?>>();
            for (var thread = 0; thread < 2 * CALLS; thread++) {
                var bytes = 900_000 * (1 + thread % 4);
                var seed = thread;
                futures.add(
                        threads.submit(() -> {
                            try (var buffer = connection.newBuffer(bytes)) {
                                for (var call = 0; call < 4; call++) {
                                    roundTrip(connection, buffer, seed + 100L * call);
                                }
                            }
                            return null;
                        }));
            }
            for (var future : futures) {
                future.get();
            }
        }
    }

    private static void roundTrip(NodeConnection connection, NodeBuffer buffer, long seed)
            throws IOException {
        var bytes = buffer.byteSize();
        TestRequestHandler.fill(buffer.memory(), seed);
        var sum =
                connection.call(
                        TestRequestHandler.request(TestRequestHandler.SUM),
                        buffer.toPeer(0, bytes),
                        TestRequestHandler.deadline());
        assertThat(sum.getLong()).isEqualTo(TestRequestHandler.sum(bytes, seed));
        connection.call(
                TestRequestHandler.request(
                        TestRequestHandler.FILL, TestRequestHandler.longValue(seed + 1)),
                buffer.fromPeer(0, bytes),
                TestRequestHandler.deadline());
        assertThat(TestRequestHandler.sum(buffer.memory()))
                .isEqualTo(TestRequestHandler.sum(bytes, seed + 1));
    }

    @Test
    void shouldReportTheFailureOfAHandlerAndStayConnected() throws Exception {
        try (var connection = connect();
                var buffer = connection.newBuffer(100)) {
            assertThatExceptionOfType(RequestFailedException.class)
                    .isThrownBy(() ->
                            connection.call(
                                    TestRequestHandler.request(
                                            TestRequestHandler.FAIL, utf8("no space")),
                                    buffer.fromPeer(0, 100),
                                    TestRequestHandler.deadline()))
                    .withMessage("no space");
            assertThatExceptionOfType(RequestFailedException.class)
                    .isThrownBy(() ->
                            NodeConnectionContract.this
                                    .onlyConnection()
                                    .call(
                                            TestRequestHandler.request((byte) 99),
                                            TestRequestHandler.deadline()))
                    .withMessage("unknown request");
            roundTrip(connection, buffer, 3);
        }
    }

    private NodeConnection onlyConnection() {
        assertThat(listener.connections()).hasSize(1);
        return listener.connections().getFirst();
    }

    @Test
    void shouldTimeOutACallAndKeepItsBufferUntilTheReplyArrives() throws Exception {
        try (var connection = connect();
                var buffer = connection.newBuffer(100);
                var other = connection.newBuffer(100)) {
            assertThatExceptionOfType(FabricTimeoutException.class)
                    .isThrownBy(() ->
                            connection.call(
                                    TestRequestHandler.request(TestRequestHandler.WAIT),
                                    buffer.fromPeer(0, 100),
                                    Deadline.after(Duration.ofMillis(100))));
            assertThatIllegalStateException()
                    .isThrownBy(() -> roundTrip(connection, buffer, 1))
                    .withMessageContaining("has timed out");
            roundTrip(connection, other, 2);

            server.gate.countDown();

            var deadline = TestRequestHandler.deadline();
            while (!deadline.hasPassed()) {
                try {
                    connection.call(
                            TestRequestHandler.request(
                                    TestRequestHandler.FILL, TestRequestHandler.longValue(3)),
                            buffer.fromPeer(0, 100),
                            TestRequestHandler.deadline());
                    assertThat(TestRequestHandler.sum(buffer.memory()))
                            .isEqualTo(TestRequestHandler.sum(100, 3));
                    return;
                } catch (IllegalStateException _) {
                    Thread.onSpinWait(); // the late reply has not arrived
                }
            }
            throw deadline.missed("The late reply did not arrive");
        }
    }

    @Test
    void shouldFailOutstandingCallsWhenThePeerCloses() throws Exception {
        try (var connection = connect();
                var buffer = connection.newBuffer(100)) {
            var first = waitingCall(connection, null);
            var second = waitingCall(connection, buffer.fromPeer(0, 100));
            server.waiting.await();
            var closing = CompletableFuture.runAsync(onlyConnection()::close);

            assertLost(first, "the peer closed the connection");
            assertLost(second, "the peer closed the connection");
            assertThatExceptionOfType(ConnectionLostException.class)
                    .isThrownBy(() ->
                            connection.call(
                                    TestRequestHandler.request(TestRequestHandler.ECHO),
                                    TestRequestHandler.deadline()));
            assertThatExceptionOfType(ConnectionLostException.class)
                    .isThrownBy(() -> connection.newBuffer(100));
            server.gate.countDown();
            closing.get();
            assertThat(server.disconnected.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(client.disconnected.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    private CompletableFuture<ByteBuffer> waitingCall(NodeConnection connection, BulkData bulk) {
        var result = new CompletableFuture<ByteBuffer>();
        Thread.startVirtualThread(() -> {
            try {
                result.complete(
                        connection.call(
                                TestRequestHandler.request(TestRequestHandler.WAIT),
                                bulk,
                                TestRequestHandler.deadline()));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private static void assertLost(CompletableFuture<?> call, String reason) {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> call.get(20, TimeUnit.SECONDS))
                .havingCause()
                .isInstanceOf(ConnectionLostException.class)
                .withMessageContaining(reason);
    }

    @Test
    void shouldNoticeAKilledPeer() throws Exception {
        try (var process = NodeProcess.start(transport());
                var connection =
                        NodeConnection.connect(
                                process.addresses(),
                                options,
                                client,
                                TestRequestHandler.deadline());
                var idle =
                        NodeConnection.connect(
                                process.addresses(),
                                options,
                                client,
                                TestRequestHandler.deadline())) {
            var call = waitingCall(connection, null);
            assertThat(
                            text(
                                    connection.call(
                                            TestRequestHandler.echo(utf8("x")),
                                            TestRequestHandler.deadline())))
                    .isEqualTo("x");

            process.signal("KILL");

            assertLost(call, "has ended");
            assertThat(idle.ended().get(20, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    @Tag("slow")
    void shouldNoticeAStoppedPeer() throws Exception {
        try (var process = NodeProcess.start(transport());
                var connection =
                        NodeConnection.connect(
                                process.addresses(),
                                options,
                                client,
                                TestRequestHandler.deadline())) {
            var call = waitingCall(connection, null);
            assertThat(
                            text(
                                    connection.call(
                                            TestRequestHandler.echo(utf8("x")),
                                            TestRequestHandler.deadline())))
                    .isEqualTo("x");

            process.signal("STOP");

            assertLost(call, "has ended");
        }
    }

    @Test
    @Tag("slow")
    void shouldKeepAnIdleConnection() throws Exception {
        try (var connection = connect()) {
            assertThatExceptionOfType(FabricTimeoutException.class)
                    .isThrownBy(() ->
                            connection.call(
                                    TestRequestHandler.request(TestRequestHandler.WAIT),
                                    Deadline.after(SILENCE.multipliedBy(2))));

            assertThat(connection.end()).isEmpty();
            assertThat(
                            text(
                                    connection.call(
                                            TestRequestHandler.echo(utf8("x")),
                                            TestRequestHandler.deadline())))
                    .isEqualTo("x");
        }
    }

    /** A peer that sends frames of its own choice. */
    private final class HostilePeer implements AutoCloseable {

        private final Wire wire;
        private final CompletableFuture<Void> disconnected = new CompletableFuture<>();

        HostilePeer() throws IOException {
            var address = WireAddress.parse(listener.addresses().getFirst());
            wire = Wire.connect(address, options, TestRequestHandler.deadline());
        }

        HostilePeer shakeHands() throws IOException {
            var hello = new HelloWithLimits(CALLS, 4096).encode();
            send(FrameHeader.of(Kind.HELLO, hello.remaining()), hello);
            assertThat(wire.receive().header().kind()).isEqualTo(Kind.HELLO);
            return this;
        }

        void send(FrameHeader header, ByteBuffer payload) throws IOException {
            var data = MemorySegment.ofArray(new byte[0]);
            try {
                wire.send(header, payload, data, TestRequestHandler.deadline());
            } catch (SisciException _) {
                // The listener can find the frame and disconnect before the interrupt is triggered.
            }
        }

        void request(long number, Direction direction, int offset, int bytes) throws IOException {
            var request = TestRequestHandler.request(TestRequestHandler.WAIT);
            send(
                    new FrameHeader(
                            Kind.REQUEST,
                            direction,
                            request.remaining(),
                            number,
                            offset,
                            bytes,
                            0,
                            0),
                    request);
        }

        void assertDisconnected() throws Exception {
            Thread.startVirtualThread(() -> {
                try {
                    while (wire.receive().header().kind() != Kind.CLOSE) {
                        // replies and keep-alive messages
                    }
                    disconnected.complete(null);
                } catch (IOException | RuntimeException _) {
                    disconnected.complete(null);
                }
            });
            disconnected.get(20, TimeUnit.SECONDS);
        }

        @Override
        public void close() {
            wire.shutdown();
            wire.close();
        }
    }

    private interface Attack {
        void run(HostilePeer peer) throws IOException;
    }

    private void assertDisconnectsAfter(Attack attack) throws Exception {
        try (var neighbor = connect();
                var peer = new HostilePeer().shakeHands()) {
            attack.run(peer);
            peer.assertDisconnected();
            assertThat(
                            text(
                                    neighbor.call(
                                            TestRequestHandler.echo(utf8("x")),
                                            TestRequestHandler.deadline())))
                    .isEqualTo("x");
        }
    }

    @Test
    void shouldDisconnectAPeerThatMakesTooManyCalls() throws Exception {
        assertDisconnectsAfter(peer -> {
            for (var number = 1; number <= CALLS + 1; number++) {
                peer.request(number, null, 0, 0);
            }
        });
        assertThat(server.handled.get()).isLessThanOrEqualTo(CALLS + 1); // with the neighbor's call
    }

    @Test
    void shouldDisconnectAPeerWhoseBulkDataExceedsTheMemory() throws Exception {
        assertDisconnectsAfter(peer -> peer.request(1, Direction.FROM_PEER, 4 << 20, 1));
        assertDisconnectsAfter(peer -> peer.request(1, Direction.FROM_PEER, 0, (4 << 20) + 1));
        assertDisconnectsAfter(
                peer -> peer.request(1, Direction.FROM_PEER, Integer.MAX_VALUE, Integer.MAX_VALUE));
        assertDisconnectsAfter(peer -> peer.request(1, Direction.FROM_PEER, -1, 1));
        assertDisconnectsAfter(peer -> peer.request(1, Direction.FROM_PEER, 0, -1));
        assertThat(server.handled).hasValue(5); // only the neighbor's calls
    }

    @Test
    void shouldServeOthersAfterAPeerNamedMemoryThatDoesNotExist() throws Exception {
        var fill =
                TestRequestHandler.request(
                        TestRequestHandler.FILL, TestRequestHandler.longValue(1));
        var header =
                new FrameHeader(
                        Kind.REQUEST,
                        Direction.FROM_PEER,
                        fill.remaining(),
                        1,
                        0,
                        4096,
                        0x7fff_0000_0000L,
                        77);
        try (var neighbor = connect();
                var peer = new HostilePeer().shakeHands()) {
            peer.send(header, fill);
            if (transport() != TransportKind.SOCKETS) { // sockets use no address of the peer
                peer.assertDisconnected();
            }
            assertThat(
                            text(
                                    neighbor.call(
                                            TestRequestHandler.echo(utf8("x")),
                                            TestRequestHandler.deadline())))
                    .isEqualTo("x");
        }
    }

    @Test
    void shouldDisconnectAPeerThatRepliesToNoCall() throws Exception {
        assertDisconnectsAfter(peer ->
                peer.send(
                        new FrameHeader(Kind.REPLY, null, 0, 12345, 0, 0, 0, 0),
                        ByteBuffer.allocate(0)));
    }

    @Test
    void shouldDisconnectAPeerThatRepeatsTheHandshake() throws Exception {
        assertDisconnectsAfter(peer -> {
            var hello = new HelloWithLimits(1, 0).encode();
            peer.send(FrameHeader.of(Kind.HELLO, hello.remaining()), hello);
        });
    }

    @Test
    void shouldDisconnectAPeerWithoutAHandshake() throws Exception {
        try (var silent = new HostilePeer();
                var other = new HostilePeer()) {
            other.send(FrameHeader.of(Kind.PING, 0), ByteBuffer.allocate(0));
            other.assertDisconnected();
            silent.assertDisconnected();
        }
        assertThat(listener.connections()).isEmpty();
    }

    @Test
    void shouldAcceptOnlyTheConfiguredNumberOfConnections() throws Exception {
        listener.close();
        options = options.connections(2);
        listener = NodeListener.open(options, server);
        var first = connect();
        try (var second = connect()) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() ->
                            NodeConnection.connect(
                                    listener.addresses(),
                                    options,
                                    client,
                                    Deadline.after(Duration.ofSeconds(3))));
            first.close();
            var deadline = TestRequestHandler.deadline();
            while (listener.connections().size() > 1 && !deadline.hasPassed()) {
                Thread.onSpinWait();
            }
            connect().close();
            assertThat(
                            text(
                                    second.call(
                                            TestRequestHandler.echo(utf8("x")),
                                            TestRequestHandler.deadline())))
                    .isEqualTo("x");
        }
    }

    @Test
    void shouldReleaseEverythingThatConnectionsUse() throws Exception {
        cycle();
        var before = descriptors();
        for (var repeat = 0; repeat < 5; repeat++) {
            cycle();
        }
        awaitDescriptors(before);
        assertThat(
                        Thread.getAllStackTraces().keySet().stream()
                                .map(Thread::getName)
                                .filter(name -> name.startsWith("jrdma-call-")))
                .hasSizeLessThan(20);
    }

    private void cycle() throws IOException {
        try (var connection = connect();
                var buffer = connection.newBuffer(10_000)) {
            roundTrip(connection, buffer, 1);
        }
        var deadline = TestRequestHandler.deadline();
        while (!listener.connections().isEmpty() && !deadline.hasPassed()) {
            Thread.onSpinWait();
        }
        assertThat(listener.connections()).isEmpty();
    }

    /**
     * Waits, because the JVM also opens files for a moment, for example when it initializes JFR.
     */
    private static void awaitDescriptors(int max) {
        var deadline = TestRequestHandler.deadline();
        int open;
        do {
            open = descriptors();
        } while (open > max && !deadline.hasPassed());
        assertThat(open).isLessThanOrEqualTo(max);
    }

    private static int descriptors() {
        return List.of(Path.of("/proc/self/fd").toFile().list()).size();
    }
}
