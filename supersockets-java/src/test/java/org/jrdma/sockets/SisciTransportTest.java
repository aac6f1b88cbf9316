package org.jrdma.sockets;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.Tasks.Kind;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the behavior that is specific to the SISCI transport. The conformance tests cover the
 * behavior that it has in common with the channels of the JDK.
 */
@Timeout(60)
class SisciTransportTest {

    private static final FabricSelectorProvider OWN_NODE =
            (FabricSelectorProvider) Implementation.SISCI.provider();

    private static final int MANY = 300;
    private static final int STREAMS = 40;

    /**
     * The number of segments that belong to no stream: of the listener and of both {@code
     * WakeUpMarks}.
     */
    private static final int REMAINING_SEGMENTS = 3;

    private static final int PULLS = 50;
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    /** A hosts file that maps 127.0.0.1 to node 8. */
    private static final String SERVER_IS_NODE_8 =
            """
            # a table as Dolphin's tools write it
            HOSTNAME: 127.0.0.1
            ADAPTER: server_a0 8 0 4   # name, node, adapter
            STRIPE: something for others
            """;

    @Test
    void shouldTransferTheBytesOverTheKernelBypass() throws Exception {
        try (var pair = ChannelPair.open(OWN_NODE)) {
            pair.client().write(TestBytes.of("abc"));
            assertThat(TestBytes.read(pair.server(), 3)).isEqualTo("abc");

            for (var end : List.of(pair.client(), pair.server())) {
                var connection = OpenConnections.of(end);
                assertThat(((FabricSocketChannel) end).transport().name()).isEqualTo("sisci");
                assertThat(connection.transport()).isEqualTo("sisci");
                assertThat(connection.isFallback()).isFalse();
                assertThat(connection.bytesSent() + connection.bytesReceived()).isEqualTo(3);
            }
        }
    }

    @Test
    void shouldFallBackToTcpIfTheListenerUsesOnlyTcp() throws Exception {
        try (var listener = ChannelPair.listener(Implementation.TCP.provider());
                var client = OWN_NODE.openSocketChannel()) {
            client.connect(listener.getLocalAddress());

            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            assertThat(OpenConnections.of(client))
                    .hasToString(
                            "127.0.0.1:%d tcp (sisci: Connection refused: no listener at port %d of node 4)"
                                    .formatted(port, port));
        }
    }

    /**
     * A program calls finishConnect only once, when the selector reports the connection. Therefore,
     * the fallback must not need another call.
     */
    @Test
    void shouldFallBackToTcpInNonBlockingMode() throws Exception {
        try (var listener = ChannelPair.listener(Implementation.TCP.provider());
                var selector = OWN_NODE.openSelector();
                var client = OWN_NODE.openSocketChannel()) {
            client.configureBlocking(false);
            var key = client.register(selector, SelectionKey.OP_CONNECT);

            assertThat(client.connect(listener.getLocalAddress())).isFalse();

            assertThat(selector.select()).isEqualTo(1);
            assertThat(key.isConnectable()).isTrue();
            assertThat(client.finishConnect()).isTrue();
            assertThat(OpenConnections.of(client).transport()).isEqualTo("tcp");
        }
    }

    @Test
    void shouldAcceptClientsOfBothTransportsAtOnePort() throws Exception {
        try (var listener = ChannelPair.listener(OWN_NODE);
                var selector = OWN_NODE.openSelector();
                var overTcp = Implementation.JDK.provider().openSocketChannel();
                var overSisci = OWN_NODE.openSocketChannel()) {
            listener.configureBlocking(false);
            var key = listener.register(selector, SelectionKey.OP_ACCEPT);

            overTcp.connect(listener.getLocalAddress());
            assertThat(selector.select()).isEqualTo(1);
            try (var accepted = listener.accept()) {
                assertThat(OpenConnections.of(accepted).transport()).isEqualTo("tcp");
                assertThat(OpenConnections.of(accepted).whyNotFaster())
                        .isEqualTo("sisci: the client did not connect over it");
            }
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isZero();

            overSisci.connect(listener.getLocalAddress());
            assertThat(selector.select()).isEqualTo(1);
            assertThat(key.isAcceptable()).isTrue();
            try (var accepted = listener.accept()) {
                assertThat(OpenConnections.of(accepted).transport()).isEqualTo("sisci");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldWakeUpAThreadInAccept(Kind kind) throws Exception {
        try (var listener = ChannelPair.listener(OWN_NODE);
                var client = OWN_NODE.openSocketChannel()) {
            var accepting = Tasks.start(kind, listener::accept).awaitWaiting();

            client.connect(listener.getLocalAddress());

            try (var accepted = accepting.get()) {
                assertThat(OpenConnections.of(accepted).transport()).isEqualTo("sisci");
            }
        }
    }

    @Test
    void shouldReportWhyItDoesNotReachThePeer() throws Exception {
        var own = InProcessSoftwareSisciNode.anyOfItsOwn();
        var sisci = List.of(own.transport(""));
        try (var listener =
                FabricSockets.listen(
                        new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), sisci)) {
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();

            assertThatThrownBy(() -> FabricSockets.connect("127.0.0.2", port, sisci, ofSeconds(5)))
                    .isExactlyInstanceOf(FabricException.class)
                    .hasMessageStartingWith(
                            "127.0.0.2:%d cannot be reached. sisci: node 4: its listener did not confirm the address 127.0.0.1"
                                    .formatted(port))
                    .hasMessageEndingWith("of 127.0.0.2: the port is closed");
            assertThatThrownBy(() -> FabricSockets.connect("192.0.2.1", port, sisci, ofSeconds(5)))
                    .isExactlyInstanceOf(FabricException.class)
                    .hasMessageContaining("has no node for 192.0.2.1");
        }
    }

    /** The listener's proof of the client's address comes from the address 127.0.0.1. */
    @Test
    void shouldReachAListenerAtAllAddressesByASecondaryAddress() throws Exception {
        var own = InProcessSoftwareSisciNode.anyOfItsOwn();
        var sisci = List.of(own.transport(""));
        try (var listener =
                FabricSockets.listen(
                        new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0), sisci)) {
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            try (var channel = FabricSockets.connect("127.0.0.2", port, sisci, ofSeconds(5))) {
                assertThat(channel.transport()).isEqualTo(sisci.getFirst());
            }
        }
    }

    /** On the same node, a listener in another container may have the same port. */
    @Test
    void shouldNotConnectToAListenerAtAnotherAddress() throws Exception {
        var nodes = InProcessSoftwareSisciNode.anyOfItsOwn();
        var sisci = List.of(nodes.transport("HOSTNAME: 192.0.2.1\nADAPTER: a 4 0"));
        try (var listener =
                        FabricSockets.listen(
                                new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0), sisci);
                var client = new FabricSelectorProvider(sisci).openSocketChannel()) {
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            client.bind(ChannelPair.ANY_PORT); // With this address, no route is needed.

            assertThatThrownBy(() -> client.connect(new InetSocketAddress("192.0.2.1", port)))
                    .hasMessageContaining("did not confirm the address");
        }
    }

    /** Connects more clients than the backlog has room for, in a process with 300 other threads. */
    @Test
    void shouldConnectManyClientsConcurrently() throws Exception {
        var provider =
                new FabricSelectorProvider(
                        List.of(InProcessSoftwareSisciNode.anyOfItsOwn().transport("")));
        var end = new CountDownLatch(1);
        var accepted = new ArrayList<SocketChannel>();
        var clients = new ArrayList<SocketChannel>();
        try (var listener = provider.openServerSocketChannel();
                var selector = provider.openSelector()) {
            for (var i = 0; i < 300; i++) {
                Tasks.start(() -> {
                    end.await();
                    return true;
                });
            }
            listener.bind(ChannelPair.ANY_PORT, 20);
            var accepting =
                    Tasks.start(() -> {
                        while (accepted.size() < MANY) {
                            accepted.add(listener.accept());
                        }
                        return accepted.size();
                    });
            for (var i = 0; i < MANY; i++) {
                var client = provider.openSocketChannel();
                clients.add(client);
                client.configureBlocking(false);
                client.register(selector, SelectionKey.OP_CONNECT);
                client.connect(listener.getLocalAddress());
            }
            while (!clients.stream().allMatch(SocketChannel::isConnected)) {
                selector.select(key -> finish((SocketChannel) key.channel(), key));
            }
            assertThat(accepting.get()).isEqualTo(MANY);
        } finally {
            end.countDown();
            for (var channel : Stream.concat(clients.stream(), accepted.stream()).toList()) {
                channel.close();
            }
        }
    }

    private static void finish(SocketChannel channel, SelectionKey key) {
        try {
            if (channel.finishConnect()) {
                key.interestOps(0);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldNotAcceptMoreClientsThanTheBacklog() throws Exception {
        var sisci = List.of(InProcessSoftwareSisciNode.anyOfItsOwn().transport(""));
        try (var listener = new FabricSelectorProvider(sisci).openServerSocketChannel()) {
            listener.bind(ChannelPair.ANY_PORT, 1);
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            try (var _ = FabricSockets.connect("127.0.0.1", port, sisci, ofSeconds(5));
                    var _ = FabricSockets.connect("127.0.0.1", port, sisci, ofSeconds(5))) {
                assertThatThrownBy(
                                () -> FabricSockets.connect("127.0.0.1", port, sisci, ofSeconds(5)))
                        .hasMessageContaining("its accept queue is full");

                listener.accept().close();

                FabricSockets.connect("127.0.0.1", port, sisci, ofSeconds(5)).close();
            }
        }
    }

    @Test
    void shouldResetConnectionsThatWereNotAccepted() throws Exception {
        try (var client = OWN_NODE.openSocketChannel()) {
            try (var listener = ChannelPair.listener(OWN_NODE)) {
                client.connect(listener.getLocalAddress());
            }

            assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1)))
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Connection reset");
        }
    }

    @Test
    void shouldReportWhyItIsUnusable() {
        assertThat(Transports.sisci().whyNot()).get().asString().contains("libsisci");
        var node = InProcessSoftwareSisciNode.anyOfItsOwn();
        for (var table :
                new String[][] {
                    {"HOSTNAME:", ":1: HOSTNAME: needs a name or an address"},
                    {"ADAPTER: a 4 0", ":1: ADAPTER: before any HOSTNAME:"},
                    {"\nHOSTNAME: a\nADAPTER: a_a0 four 0", ":3: \"four\" is not a node id"},
                    {
                        "HOSTNAME: a\nADAPTER: a_a0",
                        ":2: ADAPTER: needs the name of an adapter, the id of a node and the number"
                                + " of the adapter"
                    },
                    {"SOCKET: a b_a0", ":1: unknown adapter b_a0"}
                }) {
            assertThat(node.transport(table[0]).whyNot()).get().asString().endsWith(table[1]);
        }
    }

    @Test
    void shouldUseTheReceiveBufferSizeForTheRing() throws Exception {
        try (var listener = OWN_NODE.openServerSocketChannel();
                var client = OWN_NODE.openSocketChannel()) {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, 16_384);
            listener.bind(ChannelPair.ANY_PORT);
            client.connect(listener.getLocalAddress());
            try (var server = listener.accept()) {
                var written = ChannelPair.fill(client);

                assertThat(written).isBetween(16_384, 16_384 + 4_096);
                assertThat(TestBytes.readBytes(server, written)).hasSize(written);
            }
        }
    }

    @Test
    void shouldReleaseItsMemoryAndItsDescriptors() throws Exception {
        var folder = InProcessSoftwareSisciNode.newFabric();
        var provider = InProcessSoftwareSisciNode.of(SoftSisciOptions.in(folder)).provider("");
        ChannelPair.open(provider).close();
        var filesBefore = files(folder);
        var descriptorsBefore = files(DESCRIPTORS);
        for (var i = 0; i < 50; i++) {
            try (var pair = ChannelPair.open(provider)) {
                pair.client().write(TestBytes.of("a"));
            }
        }

        var end = System.nanoTime() + ofSeconds(10).toNanos();
        while (files(folder) > filesBefore || files(DESCRIPTORS) > descriptorsBefore + 2) {
            assertThat(System.nanoTime()).as("not within 10 s").isLessThan(end);
            Thread.sleep(10);
        }
    }

    /**
     * A stream that waits for the close of its peer needs no thread, because a periodic scan checks
     * all such streams.
     */
    @Test
    void shouldCloseManyStreamsConcurrentlyOnFewThreads() throws Exception {
        var pairs = new ArrayList<ChannelPair>();
        for (var i = 0; i < 100; i++) {
            pairs.add(ChannelPair.open(OWN_NODE));
        }
        var before = threadsOfStreams();
        for (var pair : pairs) {
            pair.close();
        }

        assertThat(threadsOfStreams()).isLessThanOrEqualTo(before + 4);
    }

    private static long threadsOfStreams() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("jrdma-sisci-"))
                .count();
    }

    private static long files(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.count();
        }
    }

    /** Two nodes of one fabric. Node 8 listens, and node 4 finds it in a hosts file. */
    private record TwoNodes(InProcessSoftwareSisciNode client, InProcessSoftwareSisciNode server) {

        static TwoNodes with(FaultOptions faults) {
            var options =
                    SoftSisciOptions.in(InProcessSoftwareSisciNode.newFabric()).faults(faults);
            return new TwoNodes(
                    InProcessSoftwareSisciNode.of(options.node(4)),
                    InProcessSoftwareSisciNode.of(options.node(8)));
        }

        ChannelPair connect() throws IOException {
            try (var listener = ChannelPair.listener(server.provider(""))) {
                var client = client().provider(SERVER_IS_NODE_8).openSocketChannel();
                client.connect(listener.getLocalAddress());
                var pair = new ChannelPair(client, listener.accept());
                assertThat(OpenConnections.of(client).toString()).contains("sisci");
                return pair;
            }
        }
    }

    /** Each attempt must end, over SISCI or over TCP, whenever the link is cut. */
    @Test
    void shouldConnectWhileTheLinkIsPulledAndRestored() throws Exception {
        var nodes = TwoNodes.with(FaultOptions.NONE);
        var isOver = new AtomicBoolean();
        var transports = new HashSet<String>();
        try (var listener = ChannelPair.listener(nodes.server().provider(""))) {
            var accepting =
                    Tasks.start(() -> {
                        while (!isOver.get()) {
                            listener.accept().close();
                        }
                        return true;
                    });
            var pulling =
                    Tasks.start(() -> {
                        while (!isOver.get()) {
                            nodes.server().software().cutLink(0);
                            nodes.server().software().restoreLink(0);
                            Thread.sleep(5);
                        }
                        return true;
                    });
            for (var i = 0; i < PULLS; i++) {
                try (var client = nodes.client().provider(SERVER_IS_NODE_8).openSocketChannel()) {
                    client.connect(listener.getLocalAddress());
                    transports.add(OpenConnections.of(client).transport());
                }
            }
            isOver.set(true);
            pulling.get();

            try (var client = nodes.client().provider(SERVER_IS_NODE_8).openSocketChannel()) {
                client.connect(listener.getLocalAddress());
                assertThat(OpenConnections.of(client).transport()).isEqualTo("sisci");
            }
            accepting.get();
        }
        assertThat(transports).isSubsetOf("sisci", "tcp");
    }

    /**
     * With weak memory, stores that are not flushed arrive late or in another order, so this test
     * would detect a missing flush.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTransferManyBytesInBothDirectionsBetweenTwoNodes(boolean weak) throws Exception {
        var bytes = TestBytes.many(weak ? 1_000_000 : 5_000_000);
        try (var pair = TwoNodes.with(FaultOptions.NONE.weakMemory(weak)).connect()) {
            var readers = new ArrayList<Tasks.Task<byte[]>>();
            var writers = new ArrayList<Tasks.Task<Integer>>();
            for (var end : List.of(pair.client(), pair.server())) {
                readers.add(Tasks.start(() -> TestBytes.readBytes(end, bytes.length + 1)));
                writers.add(
                        Tasks.start(() -> {
                            var written = 0;
                            for (var size = 1; written < bytes.length; size = size * 7 % 40_009) {
                                var part = Math.min(size, bytes.length - written);
                                written += end.write(ByteBuffer.wrap(bytes, written, part));
                            }
                            end.shutdownOutput();
                            return written;
                        }));
            }
            for (var writer : writers) {
                assertThat(writer.result().get()).isEqualTo(bytes.length);
            }
            for (var reader : readers) {
                assertThat(reader.result().get()).isEqualTo(bytes);
            }
        }
    }

    /**
     * Each stream sends its own byte value, and must receive only this value. The streams end in
     * different ways, some of them with unread bytes.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReuseSegmentsWithoutExposingBytesOfThePreviousStream(boolean weak) throws Exception {
        var folder = InProcessSoftwareSisciNode.newFabric();
        var segments = new HashSet<String>();
        try (var link = Link.open(folder, FaultOptions.NONE.weakMemory(weak))) {
            for (var i = 0; i < STREAMS; i++) {
                try (var pair = link.connect()) {
                    segments.addAll(segments(folder));
                    exchange(pair, (byte) (i + 1), i);
                }
                Thread.sleep(2); // Each side needs time to notice that its peer is closed.
            }

            // Without reuse, there would be two segments for each stream.
            assertThat(segments).hasSizeLessThan(STREAMS);
            var end = System.nanoTime() + ofSeconds(20).toNanos();
            while (segments(folder).size() > REMAINING_SEGMENTS) {
                assertThat(System.nanoTime()).as("not within 20 s").isLessThan(end);
                Thread.sleep(10);
            }
        }
    }

    private static void exchange(ChannelPair pair, byte own, int way) throws IOException {
        var sent = new byte[10_000 + 977 * way];
        Arrays.fill(sent, own);
        pair.client().write(ByteBuffer.wrap(sent));
        switch (way % 4) {
            case 0 -> { // A half-close.
                pair.client().shutdownOutput();
                assertThat(TestBytes.readBytes(pair.server(), sent.length + 1)).isEqualTo(sent);
                pair.server().write(ByteBuffer.wrap(sent));
                pair.server().close();
                assertThat(TestBytes.readBytes(pair.client(), sent.length + 1)).isEqualTo(sent);
            }
            case 1 -> assertThat(TestBytes.readBytes(pair.server(), 100)).containsOnly(own);
            case 2 -> {
                pair.server().write(ByteBuffer.wrap(sent));
                assertThat(TestBytes.readBytes(pair.client(), 100)).containsOnly(own);
                pair.server().close();
            }
            default -> pair.client().close();
        }
    }

    /** Two nodes with a listener on node 8 that remains open for several connections. */
    private record Link(TwoNodes nodes, FabricSelectorProvider client, ServerSocketChannel listener)
            implements AutoCloseable {

        static Link open(Path folder, FaultOptions faults) throws IOException {
            var options = SoftSisciOptions.in(folder).faults(faults);
            var nodes =
                    new TwoNodes(
                            InProcessSoftwareSisciNode.of(options.node(4)),
                            InProcessSoftwareSisciNode.of(options.node(8)));
            return new Link(
                    nodes,
                    nodes.client().provider(SERVER_IS_NODE_8),
                    ChannelPair.listener(nodes.server().provider("")));
        }

        ChannelPair connect() throws IOException {
            return connectTo(listener);
        }

        ChannelPair connectTo(ServerSocketChannel other) throws IOException {
            var channel = client.openSocketChannel();
            channel.connect(other.getLocalAddress());
            assertThat(OpenConnections.of(channel).transport()).isEqualTo("sisci");
            return new ChannelPair(channel, other.accept());
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }

    private static List<String> segments(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.contains("segment"))
                    .toList();
        }
    }

    @Test
    void shouldConnectWithNewSegmentsIfTheLinkFailedAfterThePreviousStream() throws Exception {
        try (var link = Link.open(InProcessSoftwareSisciNode.newFabric(), FaultOptions.NONE)) {
            try (var pair = link.connect()) {
                exchange(pair, (byte) 1, 0);
            }
            link.nodes().server().software().cutLink(0);
            link.nodes().server().software().restoreLink(0);

            try (var pair = link.connect()) {
                exchange(pair, (byte) 2, 0);
            }
        }
    }

    /**
     * The segments of the first stream belong to the first listener, so a stream to the second
     * listener must not use them.
     */
    @Test
    void shouldConnectToTheCurrentListenerOfAPort() throws Exception {
        try (var link = Link.open(InProcessSoftwareSisciNode.newFabric(), FaultOptions.NONE)) {
            try (var pair = link.connect()) {
                exchange(pair, (byte) 1, 0);
            }
            var address = link.listener().getLocalAddress();
            link.listener().close();
            try (var second = link.nodes().server().provider("").openServerSocketChannel()) {
                second.bind(address);

                try (var pair = link.connectTo(second)) {
                    exchange(pair, (byte) 2, 0);
                }
            }
        }
    }

    @Test
    void shouldDeliverAPrefixAndThenAnErrorWhenTheLinkFails() throws Exception {
        var nodes = TwoNodes.with(FaultOptions.NONE);
        var bytes = TestBytes.many(8_000_000); // more than the ring can contain;
        try (var pair = nodes.connect()) {
            var writer =
                    Tasks.start(() -> {
                        var source = ByteBuffer.wrap(bytes);
                        while (source.hasRemaining()) {
                            pair.client().write(source);
                        }
                        return true;
                    });
            var begin = TestBytes.readBytes(pair.server(), 100_000);

            nodes.server().software().cutLink(0);
            nodes.server().software().restoreLink(0);

            assertThat(writer.failure()).isInstanceOf(IOException.class);
            var received = ByteBuffer.allocate(bytes.length);
            received.put(begin);
            assertThatThrownBy(
                            () -> {
                                while (pair.server().read(received) >= 0) {}
                            })
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Connection reset");
            assertThat(Arrays.copyOf(received.array(), received.position()))
                    .isEqualTo(Arrays.copyOf(bytes, received.position()));
            assertThat(received.position()).isLessThan(bytes.length);
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> pair.server().write(TestBytes.of("a")));
        }
    }

    /**
     * The client closes its channel immediately after the failed write, before the peer has read.
     */
    @Test
    void shouldNotReportACompleteStreamIfItIsClosedAfterTheLinkFailed() throws Exception {
        var nodes = TwoNodes.with(FaultOptions.NONE);
        try (var pair = nodes.connect()) {
            pair.client().write(TestBytes.of("a begin"));
            nodes.server().software().cutLink(0);
            nodes.server().software().restoreLink(0);
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> pair.client().write(TestBytes.of("the rest")));
            pair.client().close();

            assertThat(TestBytes.readBytes(pair.server(), 7))
                    .containsExactly(TestBytes.of("a begin").array());
            assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(8)))
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Connection reset");
        }
    }

    @Test
    void shouldFallBackToTcpIfTheLinkHasFailed() throws Exception {
        var nodes = TwoNodes.with(FaultOptions.NONE);
        nodes.connect().close();
        nodes.server().software().cutLink(0);
        try (var listener = ChannelPair.listener(nodes.server().provider(""));
                var client = nodes.client().provider(SERVER_IS_NODE_8).openSocketChannel()) {
            client.connect(listener.getLocalAddress());

            assertThat(OpenConnections.of(client).transport()).isEqualTo("tcp");
            assertThat(OpenConnections.of(client).whyNotFaster())
                    .isEqualTo("sisci: node 8 cannot be reached");
        }
    }

    @Test
    void shouldLeaveTimeForTcpIfAListenerDoesNotReply() throws Exception {
        var nodes = TwoNodes.with(FaultOptions.NONE.delay(ofSeconds(5)));
        try (var listener = ChannelPair.listener(nodes.server().provider(""));
                var client = nodes.client().provider(SERVER_IS_NODE_8).openSocketChannel()) {
            client.socket().connect(listener.getLocalAddress(), 2_000);

            assertThat(OpenConnections.of(client).transport()).isEqualTo("tcp");
            assertThat(OpenConnections.of(client).whyNotFaster()).contains("did not reply");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldDeliverAPrefixAndThenAnErrorWhenThePeerIsKilled(Kind kind) throws Exception {
        assertThat(receiveFromAnotherProcess(kind, "halt"))
                .isEqualTo(Sender.SENT + " SocketException");
    }

    /**
     * The bytes are in the memory of the receiver, so they can be read after the sender has exited.
     */
    @ParameterizedTest
    @EnumSource
    void shouldDeliverAllBytesAndThenTheEndAfterThePeerHasClosedAndExited(Kind kind)
            throws Exception {
        assertThat(receiveFromAnotherProcess(kind, "close")).isEqualTo(Sender.SENT + " end");
    }

    private static String receiveFromAnotherProcess(Kind kind, String ending) throws Exception {
        var folder = InProcessSoftwareSisciNode.newFabric();
        var own = InProcessSoftwareSisciNode.of(SoftSisciOptions.in(folder).node(4));
        try (var listener = ChannelPair.listener(own.provider(""))) {
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            var process = start(Sender.class, folder.toString(), String.valueOf(port), ending);
            try (var accepted = listener.accept()) {
                assertThat(OpenConnections.of(accepted).transport()).isEqualTo("sisci");
                if (ending.equals("close")) {
                    process.waitFor(); // All bytes are read after the process has exited.
                }
                var result = Tasks.start(kind, () -> readToTheEnd(accepted)).result().get();
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(() -> accepted.write(TestBytes.of("a")));
                return result;
            } finally {
                process.destroyForcibly().waitFor();
            }
        }
    }

    private static String readToTheEnd(SocketChannel channel) throws IOException {
        var received = 0;
        var buffer = ByteBuffer.allocate(1_000);
        var expected = TestBytes.many(Sender.SENT);
        try {
            for (int more; (more = channel.read(buffer.clear())) >= 0; received += more) {
                assertThat(Arrays.copyOf(buffer.array(), more))
                        .isEqualTo(Arrays.copyOfRange(expected, received, received + more));
            }
            return received + " end";
        } catch (SocketException e) {
            return received + " " + e.getClass().getSimpleName();
        }
    }

    /**
     * A program that sends bytes, closes the channel if the last argument is "close", and halts.
     */
    static final class Sender {

        static final int SENT = 50_000;

        public static void main(String... arguments) throws Exception {
            var hosts =
                    Files.writeString(
                            Files.createTempFile("hosts", ""),
                            "HOSTNAME: 127.0.0.1\nADAPTER: a 4 0\n");
            var library =
                    Sisci.from(new SoftSisci(SoftSisciOptions.in(Path.of(arguments[0])).node(8)));
            var channel =
                    FabricSockets.connect(
                            "127.0.0.1",
                            Integer.parseInt(arguments[1]),
                            List.of(Transports.sisci(library, hosts)),
                            Duration.ofSeconds(20));
            Files.delete(hosts);
            var bytes = ByteBuffer.wrap(TestBytes.many(SENT));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            if (arguments[2].equals("close")) {
                channel.close();
            }
            Runtime.getRuntime().halt(1);
        }
    }

    private static Process start(Class<?> program, String... arguments) throws IOException {
        return ChildJvm.of(program, List.of("--enable-native-access=ALL-UNNAMED"), arguments)
                .inheritIO()
                .start();
    }

    /**
     * When the process is killed, the segments that both processes share are still kept for the
     * next stream. The next stream must not use them.
     */
    @Test
    void shouldConnectToTheNextListenerAfterAProcessWasKilled() throws Exception {
        var folder = InProcessSoftwareSisciNode.newFabric();
        var own = InProcessSoftwareSisciNode.of(SoftSisciOptions.in(folder).node(4)).provider("");
        var process =
                ChildJvm.of(
                                Listener.class,
                                List.of("--enable-native-access=ALL-UNNAMED"),
                                folder.toString())
                        .redirectErrorStream(false)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try (var output = process.inputReader();
                var second = own.openSocketChannel();
                var listener = own.openServerSocketChannel()) {
            var address =
                    new InetSocketAddress(
                            InetAddress.ofLiteral("127.0.0.1"),
                            Integer.parseInt(output.readLine()));
            try (var first = own.openSocketChannel()) {
                first.connect(address);
                first.shutdownOutput();
                assertThat(TestBytes.readBytes(first, 1)).isEmpty();
                assertThat(OpenConnections.of(first).transport()).isEqualTo("sisci");
            }

            process.destroyForcibly().waitFor();

            listener.bind(address);
            second.connect(address);
            assertThat(OpenConnections.of(second).transport()).isEqualTo("sisci");
            exchange(new ChannelPair(second, listener.accept()), (byte) 1, 0);
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    /** A program that prints its port, and closes each stream when the peer has ended it. */
    static final class Listener {
        public static void main(String... arguments) throws Exception {
            var fabric = SoftSisciOptions.in(Path.of(arguments[0])).node(4);
            try (var listener =
                    ChannelPair.listener(InProcessSoftwareSisciNode.of(fabric).provider(""))) {
                System.out.println(((InetSocketAddress) listener.getLocalAddress()).getPort());
                while (true) {
                    try (var accepted = listener.accept()) {
                        assertThat(TestBytes.readBytes(accepted, 1)).isEmpty();
                    }
                }
            }
        }
    }

    @Test
    void shouldStopConnectingWhenTheChannelIsClosed() throws Exception {
        var slowNodes = TwoNodes.with(FaultOptions.NONE.delay(ofMillis(300)));
        try (var listener = ChannelPair.listener(slowNodes.server().provider(""))) {
            var client = slowNodes.client().provider(SERVER_IS_NODE_8).openSocketChannel();
            var address = listener.getLocalAddress();
            var connecting = Tasks.start(() -> client.connect(address)).awaitWaiting();

            client.close();

            assertThat(connecting.failure()).isInstanceOf(IOException.class);
            listener.socket().setSoTimeout(2_000);
            try (var accepted = listener.socket().accept()) {
                assertThatThrownBy(() -> accepted.getInputStream().read())
                        .isExactlyInstanceOf(SocketException.class)
                        .hasMessage("Connection reset");
            } catch (SocketTimeoutException _) {
                // The client was closed before it sent its connect request.
            }
        }
    }

    @Test
    void shouldRejectASecondListenerAndContinueWithTcp() throws Exception {
        var nodes = InProcessSoftwareSisciNode.anyOfItsOwn();
        try (var first = ChannelPair.listener(nodes.provider(""));
                ServerSocketChannel second = nodes.provider("").openServerSocketChannel();
                var client = Implementation.TCP.provider().openSocketChannel()) {
            var port = ((InetSocketAddress) first.getLocalAddress()).getPort();
            second.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), port));

            client.connect(second.getLocalAddress());

            try (var accepted = second.accept()) {
                assertThat(OpenConnections.of(accepted).whyNotFaster())
                        .startsWith("sisci: ")
                        .contains("SEGMENT_ID_USED");
            }
        }
    }
}
