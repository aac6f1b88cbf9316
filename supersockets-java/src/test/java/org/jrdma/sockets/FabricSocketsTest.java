package org.jrdma.sockets;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sockets.Tasks.Kind;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.jrdma.sockets.model.Transport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(30)
class FabricSocketsTest {

    private static final Transport ABSENT = Transports.supersockets(Path.of("/nowhere/family"));

    /**
     * A transport with address family 1 (AF_UNIX). Its sockets can be opened, but they cannot be
     * connected to an IPv4 address.
     */
    private static final Transport UNABLE = Transports.supersockets(Implementation.familyFile("1"));

    private ServerSocketChannel listener;
    private int port;

    @BeforeEach
    void listen() throws IOException {
        listener =
                FabricSockets.listen(
                        new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0),
                        List.of(Transports.tcp()));
        port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    @AfterEach
    void close() throws IOException {
        listener.close();
    }

    @Test
    void shouldFallBackAndReportTheReason() throws Exception {
        var before = Instant.now();
        try (var channel =
                        FabricSockets.connect(
                                "127.0.0.1",
                                port,
                                List.of(ABSENT, UNABLE, Transports.tcp()),
                                ofSeconds(10));
                var server = listener.accept()) {
            channel.write(TestBytes.of("abc"));
            assertThat(TestBytes.read(server, 3)).isEqualTo("abc");

            var connection = OpenConnections.of(channel);
            assertThat(connection)
                    .hasToString(
                            "127.0.0.1:%d tcp (supersockets: driver not loaded: there is no /nowhere/family; supersockets: Invalid argument)"
                                    .formatted(port));
            assertThat(connection.isFallback()).isTrue();
            assertThat(connection.bytesSent()).isEqualTo(3);
            assertThat(connection.bytesReceived()).isZero();
            assertThat(connection.since()).isBetween(before, Instant.now());
            assertThat(OpenConnections.of(server).bytesReceived()).isEqualTo(3);
            assertThat(OpenConnections.of(server).isFallback()).isFalse();
        }
    }

    @Test
    void shouldUseTheFirstTransportThatReachesThePeer() throws Exception {
        var supersockets = Transports.supersockets(Implementation.familyFile("2"));
        try (var channel =
                FabricSockets.connect(
                        "127.0.0.1",
                        port,
                        List.of(supersockets, Transports.tcp()),
                        ofSeconds(10))) {
            assertThat(channel.transport()).isSameAs(supersockets);
            assertThat(OpenConnections.of(channel))
                    .hasToString("127.0.0.1:%d supersockets".formatted(port));
        }
    }

    @Test
    void shouldReportTheAddressFamilyOfTheDescriptor() throws Exception {
        var family = Implementation.familyFile("2");
        var supersockets = Transports.supersockets(family);
        try (var channel =
                FabricSockets.connect("127.0.0.1", port, List.of(supersockets), ofSeconds(10))) {
            Files.writeString(family, "27");

            assertThat(OpenConnections.of(channel).transport()).isEqualTo("tcp");
        }
    }

    @Test
    void shouldListTheOpenStreams() throws Exception {
        var channel = FabricSockets.connect("127.0.0.1", port, ofSeconds(10));
        var server = listener.accept();
        var peer = channel.getRemoteAddress();

        assertThat(OpenConnections.all()).extracting(Connection::peer).contains(peer);
        assertThat(OpenConnections.report())
                .contains("127.0.0.1\n", "(to %d)".formatted(port), "0 sent");

        channel.close();
        server.close();
        assertThat(OpenConnections.all()).extracting(Connection::peer).doesNotContain(peer);
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> OpenConnections.of(channel))
                .withMessageEndingWith("is not connected");
        try (var foreign = SocketChannel.open()) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> OpenConnections.of(foreign))
                    .withMessageEndingWith("is a channel of another provider");
        }
    }

    @Test
    void shouldReportForEachTransportWhyItDoesNotReachThePeer() throws Exception {
        listener.close();

        assertThatThrownBy(() ->
                        FabricSockets.connect(
                                "127.0.0.1",
                                port,
                                List.of(ABSENT, Transports.tcp()),
                                ofSeconds(10)))
                .isExactlyInstanceOf(FabricException.class)
                .hasMessage(
                        "127.0.0.1:%d cannot be reached. supersockets: driver not loaded: there is no /nowhere/family; tcp: Connection refused"
                                .formatted(port));
        assertThatExceptionOfType(UnknownHostException.class)
                .isThrownBy(() -> FabricSockets.connect("no.invalid", port, ofSeconds(1)));
    }

    @ParameterizedTest
    @EnumSource
    void shouldTimeOut(Kind kind) throws Exception {
        try (var silent = new SilentListener()) {
            var start = System.nanoTime();
            var connecting =
                    Tasks.start(
                            kind,
                            () ->
                                    FabricSockets.connect(
                                            "127.0.0.1",
                                            silent.port(),
                                            List.of(Transports.tcp()),
                                            ofMillis(300)));

            assertThat(connecting.failure())
                    .isExactlyInstanceOf(FabricTimeoutException.class)
                    .hasMessage(
                            "127.0.0.1:%d cannot be reached. tcp: Connect timed out"
                                    .formatted(silent.port()));
            assertThat(System.nanoTime() - start).isBetween(290_000_000L, 5_000_000_000L);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldStopConnectingWhenTheThreadIsInterrupted(Kind kind) throws Exception {
        try (var silent = new SilentListener()) {
            var connecting =
                    Tasks.start(
                                    kind,
                                    () ->
                                            FabricSockets.connect(
                                                    "127.0.0.1", silent.port(), ofSeconds(20)))
                            .awaitWaiting();

            connecting.thread().interrupt();

            assertThat(connecting.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
        }
    }

    /** A listener whose accept queue is full, so that the kernel drops connection requests. */
    private static final class SilentListener implements AutoCloseable {

        private final ServerSocketChannel listener = ServerSocketChannel.open();
        private final List<SocketChannel> waiting = new ArrayList<>();

        SilentListener() throws IOException, InterruptedException {
            listener.bind(ChannelPair.ANY_PORT, 1);
            for (var i = 0; i < 8; i++) {
                var channel = SocketChannel.open();
                channel.configureBlocking(false);
                channel.connect(listener.getLocalAddress());
                waiting.add(channel);
            }
            Thread.sleep(50);
        }

        int port() throws IOException {
            return ((InetSocketAddress) listener.getLocalAddress()).getPort();
        }

        @Override
        public void close() throws IOException {
            listener.close();
            for (var channel : waiting) {
                channel.close();
            }
        }
    }

    @Test
    void shouldRejectANegativeTimeout() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> FabricSockets.connect("127.0.0.1", port, ofSeconds(-1)))
                .withMessage("connect: timeout can't be negative");
    }

    /** A listener at an address that the caller did not choose could remain unnoticed. */
    @Test
    void shouldRejectAListenerWithoutAnAddress() {
        assertThatThrownBy(() -> FabricSockets.listen(null))
                .isInstanceOf(NullPointerException.class);
    }

    @Test
    void shouldRejectASecondListenerAtAPort() throws Exception {
        assertThatExceptionOfType(BindException.class)
                .isThrownBy(() ->
                        FabricSockets.listen(
                                new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port)));
    }

    @Test
    void shouldCreateSocketsByTheFactories() throws Exception {
        var loopback = InetAddress.ofLiteral("127.0.0.1");
        try (var server = new FabricServerSocketFactory().createServerSocket(0, 5, loopback)) {
            var factory = new FabricSocketFactory();
            for (var socket :
                    List.of(
                            factory.createSocket("127.0.0.1", server.getLocalPort()),
                            factory.createSocket(loopback, server.getLocalPort()),
                            factory.createSocket(loopback, server.getLocalPort(), loopback, 0),
                            factory.createSocket(
                                    "127.0.0.1", server.getLocalPort(), loopback, 0))) {
                try (socket;
                        var accepted = server.accept()) {
                    socket.getOutputStream().write(7);
                    assertThat(accepted.getInputStream().read()).isEqualTo(7);
                    assertThat(socket.getChannel()).isInstanceOf(FabricSocketChannel.class);
                    assertThat(accepted.getChannel()).isInstanceOf(FabricSocketChannel.class);
                }
            }
            assertThat(factory.createSocket().isConnected()).isFalse();
        }
    }

    @Test
    void shouldThrowTheExceptionsOfSocketsFromTheFactories() throws Exception {
        var loopback = InetAddress.ofLiteral("127.0.0.1");
        var factory = new FabricSocketFactory();
        int unusedPort;
        try (var server = new FabricServerSocketFactory().createServerSocket(0, 5, loopback)) {
            unusedPort = server.getLocalPort();
        }

        assertThatExceptionOfType(ConnectException.class)
                .isThrownBy(() -> factory.createSocket("127.0.0.1", unusedPort))
                .withMessageContaining("Connection refused");
        assertThatExceptionOfType(ConnectException.class)
                .isThrownBy(() -> factory.createSocket(loopback, unusedPort));
    }

    /** JNDI calls these methods by reflection. */
    @Test
    void shouldReturnTheFactoriesAsDefaults() {
        assertThat(FabricSocketFactory.getDefault()).isInstanceOf(FabricSocketFactory.class);
        assertThat(FabricServerSocketFactory.getDefault())
                .isInstanceOf(FabricServerSocketFactory.class);
    }
}
