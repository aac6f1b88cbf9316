package org.jrdma.sockets;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.Tasks.Kind;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.transport.RsocketTransport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests rsockets at the address of the RoCE device of the guest's kernel. */
@Tag("real-kernel")
@Timeout(60)
class RsocketTest {

    private static final InetAddress ROCE = InetAddress.ofLiteral("10.77.0.1");
    private static final InetAddress IWARP = InetAddress.ofLiteral("10.77.1.1");
    private static final List<Transport> RSOCKET = List.of(Transports.rsocket());
    private static final List<Transport> WITH_TCP = List.of(Transports.rsocket(), Transports.tcp());

    private static ServerSocketChannel listener(InetAddress address, List<Transport> transports)
            throws Exception {
        return FabricSockets.listen(new InetSocketAddress(address, 0), transports);
    }

    private static int port(ServerSocketChannel listener) throws Exception {
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    private static ChannelPair connect(ServerSocketChannel listener) throws Exception {
        return new ChannelPair(
                FabricSockets.connect("10.77.0.1", port(listener), RSOCKET, ofSeconds(10)),
                listener.accept());
    }

    private static InetAddress any() {
        return InetAddress.ofLiteral("0.0.0.0");
    }

    @Test
    void shouldBeUsable() {
        assertThat(Transports.rsocket().whyNot()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void shouldTransferAStreamUpToItsEnd(Kind kind) throws Exception {
        var content = new StreamContent(7);
        var bytes = 4L << 20;
        try (var listener = listener(ROCE, WITH_TCP);
                var client =
                        FabricSockets.connect(
                                "10.77.0.1", port(listener), WITH_TCP, ofSeconds(10));
                var server = listener.accept()) {
            assertThat(OpenConnections.of(client))
                    .hasToString("10.77.0.1:%d rsocket".formatted(port(listener)));
            assertThat(OpenConnections.of(server).transport()).isEqualTo("rsocket");
            assertThat(OpenConnections.of(server).isFallback()).isFalse();
            assertThat(client.getLocalAddress()).isEqualTo(server.getRemoteAddress());

            var writer =
                    Tasks.start(
                            kind,
                            () -> {
                                var all =
                                        StreamTransfer.write(client, content, bytes, new Random(1));
                                client.shutdownOutput();
                                return all;
                            });
            var read =
                    StreamTransfer.read(
                            server,
                            content,
                            Long.MAX_VALUE,
                            StreamTransfer.Pace.QUICK,
                            new Random(2));

            assertThat(read).isEqualTo(new StreamTransfer(bytes, null));
            assertThat(writer.get()).isEqualTo(read);
            server.write(TestBytes.of("thanks"));
            assertThat(TestBytes.read(client, 6)).isEqualTo("thanks");
        }
    }

    @Test
    void shouldServeTcpAtTheSamePort() throws Exception {
        try (var listener = listener(any(), WITH_TCP)) {
            for (var host : List.of("10.77.0.1", "127.0.0.1", "10.77.1.1")) {
                try (var client = SocketChannel.open(new InetSocketAddress(host, port(listener)));
                        var server = listener.accept()) {
                    client.write(TestBytes.of("tcp"));
                    assertThat(TestBytes.read(server, 3)).isEqualTo("tcp");
                    assertThat(OpenConnections.of(server).transport()).isEqualTo("tcp");
                    assertThat(OpenConnections.of(server).whyNotFaster())
                            .isEqualTo("rsocket: the client did not connect over it");
                }
            }
            try (var client =
                            FabricSockets.connect(
                                    "10.77.0.1", port(listener), WITH_TCP, ofSeconds(10));
                    var server = listener.accept()) {
                assertThat(OpenConnections.of(client).transport()).isEqualTo("rsocket");
                assertThat(OpenConnections.of(server).transport()).isEqualTo("rsocket");
            }
        }
    }

    @Test
    void shouldReportThatAPortIsInUse() throws Exception {
        var address = new InetSocketAddress(ROCE, 4_711);
        var listener = RsocketTransport.CONFIGURED.listen(address, 5, 0);
        try {
            assertThatThrownBy(() -> RsocketTransport.CONFIGURED.listen(address, 5, 0))
                    .isInstanceOfSatisfying(
                            FabricException.class,
                            e -> assertThat(e.code()).isEqualTo(Errno.EADDRINUSE));
        } finally {
            listener.close();
        }
    }

    @Test
    void shouldFallBackIfNoRsocketListens() throws Exception {
        try (var listener = listener(ROCE, List.of(Transports.tcp()));
                var client =
                        FabricSockets.connect(
                                "10.77.0.1", port(listener), WITH_TCP, ofSeconds(10));
                var server = listener.accept()) {
            client.write(TestBytes.of("abc"));
            assertThat(TestBytes.read(server, 3)).isEqualTo("abc");
            assertThat(OpenConnections.of(client))
                    .hasToString(
                            "10.77.0.1:%d tcp (rsocket: Connection refused: no rsocket listens there)"
                                    .formatted(port(listener)));
            assertThatThrownBy(() ->
                            FabricSockets.connect(
                                    "10.77.0.1", port(listener), RSOCKET, ofSeconds(10)))
                    .hasMessageContaining("no rsocket listens there");
        }
    }

    @Test
    void shouldFallBackIfNoDeviceReachesThePeer() throws Exception {
        for (var host : List.of(InetAddress.ofLiteral("127.0.0.1"), IWARP)) {
            var name = host.getHostAddress();
            try (var listener = listener(host, WITH_TCP);
                    var client =
                            FabricSockets.connect(name, port(listener), WITH_TCP, ofSeconds(10));
                    var server = listener.accept()) {
                assertThat(OpenConnections.of(client).whyNotFaster())
                        .isEqualTo(
                                "rsocket: %s is reached from %s, which is not an address of an RDMA device"
                                        .formatted(name, name));
                assertThat(OpenConnections.of(server).whyNotFaster())
                        .isEqualTo("rsocket: no RDMA device has the address " + name);
            }
        }
    }

    /**
     * Detects a librdmacm that supports too few connections in a process. Before version 53, its
     * limit is 256.
     */
    @Test
    void shouldSupportAHundredConnectionsWithBothSidesInOneProcess() throws Exception {
        var pairs = new ArrayList<ChannelPair>();
        try (var listener = listener(ROCE, RSOCKET)) {
            for (var i = 0; i < 100; i++) {
                pairs.add(connect(listener));
            }
        } finally {
            for (var each : pairs) {
                each.close();
            }
        }
    }

    @Test
    void shouldAcceptManySimultaneousClientsWithASmallBacklog() throws Exception {
        var clients = new ArrayList<Tasks.Task<SocketChannel>>();
        try (var listener = new FabricSelectorProvider(RSOCKET).openServerSocketChannel()) {
            listener.bind(new InetSocketAddress(ROCE, 0), 1);
            var port = port(listener);
            for (var i = 0; i < 20; i++) {
                clients.add(
                        Tasks.start(() ->
                                FabricSockets.connect("10.77.0.1", port, RSOCKET, ofSeconds(4))));
            }
            for (var i = 0; i < clients.size(); i++) {
                listener.accept().close();
            }
        } finally {
            for (var each : clients) {
                each.get().close();
            }
        }
    }

    /**
     * For each client that has timed out, the library waits until the device of the client has
     * given up, too. The close must not wait for that.
     */
    @Test
    void shouldCloseAListenerAfterManyClientsTimedOut() throws Exception {
        var clients = new ArrayList<CompletableFuture<? extends SocketChannel>>();
        var listener = new FabricSelectorProvider(RSOCKET).openServerSocketChannel();
        listener.bind(new InetSocketAddress(ROCE, 0), 1);
        var port = port(listener);
        for (var i = 0; i < 60; i++) {
            var timeout = ofMillis(1 + 5 * i);
            clients.add(
                    Tasks.start(() -> FabricSockets.connect("10.77.0.1", port, RSOCKET, timeout))
                            .result());
        }
        for (var each : clients) {
            each.handle((_, _) -> "ended").get();
        }
        assertThat(clients).anyMatch(CompletableFuture::isCompletedExceptionally);

        var end =
                Tasks.start(() -> {
                    listener.close();
                    return "closed";
                });

        assertThat(end.result()).succeedsWithin(ofSeconds(5)).isEqualTo("closed");
        for (var each : clients) {
            if (!each.isCompletedExceptionally()) {
                each.get().close();
            }
        }
    }

    /**
     * The receive queues of the peers are full, so each close waits until it can send its last
     * message. Other streams must not wait for that.
     */
    @Test
    void shouldCloseStreamsWhileManyPeersReceiveNothing() throws Exception {
        var stalled = new ArrayList<ChannelPair>();
        try (var listener = listener(ROCE, RSOCKET);
                var pair = connect(listener)) {
            for (var i = 0; i < 20; i++) {
                stalled.add(connect(listener));
                ChannelPair.fill(stalled.getLast().client());
            }
            for (var each : stalled) {
                each.client().close();
            }

            pair.client().close();

            var end = Tasks.start(() -> pair.server().read(ByteBuffer.allocate(1))).result();
            assertThat(end).succeedsWithin(ofSeconds(5)).isEqualTo(-1);
        } finally {
            for (var each : stalled) {
                each.close();
            }
        }
    }

    @Test
    void shouldBindAClient() throws Exception {
        var provider = new FabricSelectorProvider(WITH_TCP);
        try (var listener = listener(ROCE, WITH_TCP);
                var client = provider.openSocketChannel()) {
            client.bind(new InetSocketAddress(ROCE, 0));
            var boundAddress = client.getLocalAddress();

            client.connect(listener.getLocalAddress());

            assertThat(((FabricSocketChannel) client).transport()).isSameAs(Transports.rsocket());
            try (var server = listener.accept()) {
                assertThat(server.getRemoteAddress()).isEqualTo(boundAddress);
            }
        }
    }
}
