package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.Route;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.jrdma.volume.net.BulkData.Direction;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests reads by datagrams over connections, and the cases in which they use RDMA WRITE. */
@Timeout(60)
class DatagramReadTest {

    private static final int BYTES = 1 << 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final NodeOptions WITHOUT = NodeOptions.of(TransportKind.VERBS);
    private static final NodeOptions WITH = WITHOUT.datagramReads(true);

    static {
        SoftwareFabrics.select();
    }

    private static NodeListener listen(NodeOptions options) throws IOException {
        return NodeListener.open(options, new TestRequestHandler());
    }

    private static NodeConnection connect(List<String> addresses, NodeOptions options)
            throws IOException {
        return NodeConnection.connect(addresses, options, TestRequestHandler.deadline());
    }

    private static void read(NodeConnection connection, NodeBuffer buffer, int bytes, long seed)
            throws IOException {
        connection.call(
                TestRequestHandler.request(
                        TestRequestHandler.FILL, TestRequestHandler.longValue(seed)),
                buffer.fromPeer(0, bytes),
                TestRequestHandler.deadline());
        assertThat(TestRequestHandler.sum(buffer.memory().asSlice(0, bytes)))
                .isEqualTo(TestRequestHandler.sum(bytes, seed));
    }

    @Test
    void shouldReadAnyLength() throws Exception {
        try (var listener = listen(WITH);
                var connection = connect(listener.addresses(), WITH);
                var buffer = connection.newBuffer(4 << 20)) {
            for (var bytes : new int[] {1, 4096, 16_384, 65_536, 65_537, BYTES, 4 << 20}) {
                read(connection, buffer, bytes, bytes);
            }
            assertThat(connection.toString())
                    .matches("verbs \\(soft0, [1-5] reads by datagrams\\) between .*");
        }
    }

    @Test
    void shouldReadAfterACallThatFailed() throws Exception {
        try (var listener = listen(WITH);
                var connection = connect(listener.addresses(), WITH);
                var buffer = connection.newBuffer(BYTES)) {
            assertThatExceptionOfType(RequestFailedException.class)
                    .isThrownBy(() ->
                            connection.call(
                                    TestRequestHandler.request(TestRequestHandler.FAIL),
                                    buffer.fromPeer(0, BYTES),
                                    TestRequestHandler.deadline()));
            read(connection, buffer, BYTES, 1);

            assertThat(connection.toString()).contains(", 1 reads by datagrams)");
        }
    }

    @Test
    void shouldReadWithSeveralThreads() throws Exception {
        try (var listener = listen(WITH);
                var connection = connect(listener.addresses(), WITH);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var readers =
                    IntStream.range(0, 4)
                            .mapToObj(thread ->
                                    threads.submit(() -> {
                                        try (var buffer = connection.newBuffer(BYTES)) {
                                            for (var repeat = 0; repeat < 20; repeat++) {
                                                read(
                                                        connection,
                                                        buffer,
                                                        BYTES - repeat,
                                                        100L * thread + repeat);
                                            }
                                        }
                                        return null;
                                    }))
                            .toList();
            for (var reader : readers) {
                reader.get();
            }
            assertThat(connection.toString()).contains(" reads by datagrams)");
        }
    }

    @Test
    void shouldReadOverANetworkWithFaults() throws Exception {
        try (var process =
                        NodeProcess.start(
                                TransportKind.VERBS,
                                "-D%s=true".formatted(NodeProcess.DATAGRAMS),
                                "-Djrdma.soft.loss=0.01",
                                "-Djrdma.soft.duplication=0.02",
                                "-Djrdma.soft.reordering=0.02");
                var connection = connect(process.addresses(), WITH);
                var buffer = connection.newBuffer(BYTES)) {
            for (var repeat = 0; repeat < 20; repeat++) {
                read(connection, buffer, BYTES - repeat, repeat);
            }
            assertThat(connection.toString()).matches(".*, [1-9]\\d* reads by datagrams\\).*");
        }
    }

    /** The offer of the client names a queue pair that does not exist. */
    @Test
    void shouldUseRdmaWriteIfTheDatagramsAreLost() throws Exception {
        readOnce(
                Route::devicePort,
                (domain, options) -> {
                    var gid = domain.device().gids(1).getFirst().gid();
                    var missing = new Endpoint(0, 0xFFFFF0, 0, gid);
                    return options.privateData(new DatagramOffer(missing, 1, 4096, 1).encode());
                },
                "no datagrams: no datagram has arrived");
    }

    /** Otherwise a client could let the server send datagrams to other hosts. */
    @Test
    void shouldSendNoDatagramsToAnotherAddressThanThatOfTheClient() throws Exception {
        var other = Gid.of(InetAddress.getByName("127.9.9.9"));
        readOnce(
                Route::devicePort,
                (_, options) ->
                        options.privateData(
                                new DatagramOffer(new Endpoint(0, 0xFFFFF0, 0, other), 1, 4096, 1)
                                        .encode()),
                "no datagrams: the peer does not send them");
    }

    @Test
    void shouldUseRdmaWriteIfADeviceHasNoDatagrams() throws Exception {
        readOnce(
                _ -> 99,
                (_, options) -> options,
                "no datagrams: ibv_query_port failed for port 99");
    }

    private interface PortSelection {
        int port(Route route);
    }

    private interface OptionChange {
        ConnectionOptions<AsyncQueuePair> change(
                ProtectionDomain domain, ConnectionOptions<AsyncQueuePair> options)
                throws IOException;
    }

    /** Reads over a wire that uses RDMA WRITE for a reason. */
    private static void readOnce(PortSelection ports, OptionChange change, String reason)
            throws Exception {
        try (var listener = listen(WITH)) {
            var place = WireAddress.parse(listener.addresses().getFirst()).place();
            var server = HostAndPort.parse(place).resolve();
            try (var route = ConnectionManager.configured().resolve(server, TIMEOUT)) {
                var wire =
                        VerbsWire.open(
                                route.deviceName(),
                                ports.port(route),
                                Optional.empty(),
                                WITH,
                                (domain, options) ->
                                        route.connect(
                                                domain, change.change(domain, options), TIMEOUT));
                sendHello(wire);
                assertThat(wire.receive().header().kind()).isEqualTo(Kind.HELLO);
                var buffer = wire.newBuffer(BYTES);
                sendFill(wire, request(buffer.address(), buffer.key()));
                while (wire.receive().header().kind() != Kind.REPLY) {
                    // keep-alive messages
                }
                assertThat(TestRequestHandler.sum(buffer.memory()))
                        .isEqualTo(TestRequestHandler.sum(BYTES, 1));
                assertThat(wire.toString()).contains(reason);
                wire.shutdown();
                wire.close();
            }
        }
    }

    private static FrameHeader request(long address, int key) {
        var payloadBytes = 1 + Long.BYTES;
        return new FrameHeader(
                Kind.REQUEST, Direction.FROM_PEER, payloadBytes, 1, 0, BYTES, address, key);
    }

    /** Sends a request to fill the bulk data. */
    private static void sendFill(Wire wire, FrameHeader request) throws IOException {
        var fill =
                TestRequestHandler.request(
                        TestRequestHandler.FILL, TestRequestHandler.longValue(1));
        wire.send(request, fill, MemorySegment.NULL, TestRequestHandler.deadline());
    }

    @Test
    void shouldUseRdmaWriteUnlessBothNodesSelectDatagrams() throws Exception {
        try (var listener = listen(WITHOUT);
                var connection = connect(listener.addresses(), WITH);
                var buffer = connection.newBuffer(BYTES)) {
            read(connection, buffer, BYTES, 1);
            assertThat(connection.toString())
                    .startsWith(
                            "verbs (soft0, no datagrams: the peer does not send them) between ");
        }
        try (var listener = listen(WITH);
                var connection = connect(listener.addresses(), WITHOUT);
                var buffer = connection.newBuffer(BYTES)) {
            read(connection, buffer, BYTES, 1);
            assertThat(connection.toString()).startsWith("verbs (soft0) between ");
        }
    }

    @Test
    void shouldLoseTheConnectionToAProcessThatIsKilledDuringReads() throws Exception {
        try (var process =
                        NodeProcess.start(
                                TransportKind.VERBS, "-D%s=true".formatted(NodeProcess.DATAGRAMS));
                var connection = connect(process.addresses(), WITH.silence(TIMEOUT.dividedBy(10)));
                var buffer = connection.newBuffer(BYTES)) {
            read(connection, buffer, BYTES, 1);
            var reading =
                    CompletableFuture.runAsync(() ->
                            assertThatThrownBy(
                                            () -> {
                                                while (true) {
                                                    read(connection, buffer, BYTES, 2);
                                                }
                                            })
                                    .isInstanceOf(ConnectionLostException.class));
            process.signal("KILL");
            reading.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldDisconnectAPeerThatExpectsDatagramsItHasNotOffered() throws Exception {
        try (var listener = listen(WITH)) {
            var address = WireAddress.parse(listener.addresses().getFirst());
            var wire = Wire.connect(address, WITHOUT, TestRequestHandler.deadline());
            sendHello(wire);
            assertThat(wire.receive().header().kind()).isEqualTo(Kind.HELLO);
            sendFill(wire, request(0, 0).expecting(5));

            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> {
                        while (wire.receive().header().kind() != Kind.REPLY) {
                            // keep-alive messages
                        }
                    });
            wire.shutdown();
            wire.close();
        }
    }

    private static void sendHello(Wire wire) throws IOException {
        var hello = new HelloWithLimits(4, 4 << 20).encode();
        wire.send(
                FrameHeader.of(Kind.HELLO, hello.remaining()),
                hello,
                MemorySegment.NULL,
                TestRequestHandler.deadline());
    }

    /** A server whose frames and datagrams a test sends. */
    private interface ScriptedServer {
        void run(Wire wire, DatagramOffer offer, FrameHeader request) throws Exception;
    }

    /** Reads from a scripted server. */
    private static void readFrom(ScriptedServer script, Reader reader) throws Exception {
        try (var device = Verbs.configured().openFirst();
                var listener =
                        ConnectionManager.configured()
                                .listen(
                                        new InetSocketAddress(
                                                device.ipAddress().orElseThrow(), 0));
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var serving =
                    threads.submit(() -> {
                        try (var request = listener.next(TIMEOUT)) {
                            var wire =
                                    VerbsWire.open(
                                            request.deviceName(),
                                            request.devicePort(),
                                            Optional.of(request),
                                            WITH,
                                            (domain, options) ->
                                                    request.accept(domain, options, TIMEOUT));
                            assertThat(wire.receive().header().kind()).isEqualTo(Kind.HELLO);
                            sendHello(wire);
                            script.run(
                                    wire,
                                    DatagramOffer.decode(request.privateData()).orElseThrow(),
                                    wire.receive().header());
                            wire.shutdown();
                            wire.close();
                        }
                        return null;
                    });
            var place = listener.localAddresses().getFirst();
            var address = HostAndPort.of(place).toString(TransportKind.VERBS);
            try (var connection = connect(List.of(address), WITH);
                    var buffer = connection.newBuffer(BYTES)) {
                reader.read(connection, buffer);
            }
            serving.get();
        }
    }

    private interface Reader {
        void read(NodeConnection connection, NodeBuffer buffer) throws Exception;
    }

    private static void send(Wire wire, FrameHeader header) throws IOException {
        wire.send(
                header, ByteBuffer.allocate(0), MemorySegment.NULL, TestRequestHandler.deadline());
    }

    /** A server that cannot send datagrams reports them as sent, and writes in the end. */
    @Test
    void shouldUseRdmaWriteIfNoDatagramArrives() throws Exception {
        readFrom(
                (wire, offer, request) -> {
                    assertThat(request.datagrams()).isPositive();
                    for (var window = 0; window < 4; window++) {
                        send(wire, FrameHeader.of(Kind.SENT, request.call(), 0));
                    }
                    TestRequestHandler.fill(
                            wire.area().asSlice(request.areaOffset(), request.bulkBytes()), 1);
                    send(wire, request.expecting(0).reply(Kind.REPLY, 0));
                    assertThat(wire.receive().header().kind()).isEqualTo(Kind.CLOSE);
                },
                (connection, buffer) -> {
                    read(connection, buffer, BYTES, 1);
                    assertThat(connection.toString())
                            .contains("(soft0, no datagrams: no datagram has arrived)");
                });
    }

    /** The connection ends after a part of the datagrams. */
    @Test
    void shouldFailIfTheServerEndsDuringARead() throws Exception {
        readFrom(
                (wire, offer, request) -> {
                    try (var device = Verbs.configured().openFirst();
                            var domain = device.newProtectionDomain()) {
                        var queuePair =
                                domain.newQueuePair(
                                        QueuePairOptions.datagrams(
                                                        device.newCompletionDispatcher(8))
                                                .sends(4)
                                                .receives(4));
                        queuePair.activate(1);
                        var memory =
                                domain.newArena(Access.LOCAL_WRITE)
                                        .region(offer.maxDatagramBytes());
                        memory.segment().fill((byte) 1);
                        try (var handle =
                                domain.newAddressHandle(queuePair.addressOf(offer.endpoint()))) {
                            for (var index = 0; index < request.datagrams() / 2; index++) {
                                new DatagramHeader(
                                                offer.firstTransfer() + request.call(),
                                                index,
                                                memory.slice().length() - DatagramHeader.BYTES)
                                        .encode(memory.segment());
                                queuePair
                                        .send(
                                                memory.slice(),
                                                new Destination(
                                                        handle,
                                                        offer.endpoint().queuePairNumber(),
                                                        offer.queueKey()))
                                        .await(TIMEOUT);
                            }
                        }
                    }
                },
                (connection, buffer) ->
                        assertThatExceptionOfType(ConnectionLostException.class)
                                .isThrownBy(() -> read(connection, buffer, BYTES, 1)));
    }
}
