package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jrdma.ffi.Deadline;
import org.jrdma.sockets.Transports;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.Test;

final class SocketConnectionTest extends NodeConnectionContract {

    @Override
    TransportKind transport() {
        return TransportKind.SOCKETS;
    }

    @Override
    void assertNothingIsOpen() {
        // shouldReleaseEverythingThatConnectionsUse() counts the descriptors
    }

    private static NodeListener listen(TestRequestHandler server) throws IOException {
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        return NodeListener.open(
                NodeOptions.of(TransportKind.SOCKETS).socketAddress(address), server);
    }

    private static int port(NodeListener listener) {
        var address = listener.addresses().getFirst();
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    @Test
    void shouldDisconnectAPeerThatSendsRandomBytes() throws Exception {
        var random = new Random(1);
        var server = new TestRequestHandler();
        try (var listener = listen(server)) {
            for (var attempt = 0; attempt < 50; attempt++) {
                try (var socket = new Socket(InetAddress.getLoopbackAddress(), port(listener))) {
                    var bytes = new byte[FrameHeader.BYTES + random.nextInt(100)];
                    random.nextBytes(bytes);
                    socket.getOutputStream().write(bytes);
                    assertEnd(socket);
                }
            }
            assertThat(server.handled).hasValue(0);
        }
    }

    private static void assertEnd(Socket socket) {
        try {
            socket.setSoTimeout(20_000);
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        } catch (java.net.SocketTimeoutException e) {
            throw new AssertionError(e);
        } catch (IOException _) {
            // the connection was reset
        }
    }

    @Test
    void shouldStopConnectingAtTheDeadlineToAPeerThatDoesNotAnswer() throws Exception {
        try (var silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var address = "sockets:127.0.0.1:" + silent.getLocalPort();
            var started = System.nanoTime();

            assertThatExceptionOfType(VolumeException.class)
                    .isThrownBy(() ->
                            NodeConnection.connect(
                                    List.of(address),
                                    NodeOptions.ALL,
                                    Deadline.after(Duration.ofMillis(300))))
                    .withMessageContaining(address)
                    .withMessageContaining("No handshake");
            assertThat(Duration.ofNanos(System.nanoTime() - started))
                    .isLessThan(Duration.ofSeconds(5));
        }
    }

    @Test
    void shouldReportTheTransportsThatDidNotWork() throws Exception {
        String refused;
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            refused = "sockets:127.0.0.1:" + free.getLocalPort();
        }
        try (var listener = listen(new TestRequestHandler())) {
            var addresses = List.of(refused, listener.addresses().getFirst());
            try (var connection =
                    NodeConnection.connect(
                            addresses, NodeOptions.ALL, TestRequestHandler.deadline())) {
                assertThat(connection.transport()).isEqualTo(TransportKind.SOCKETS);
                assertThat(connection.attempts())
                        .singleElement()
                        .matches(attempt -> attempt.address().equals(refused));
            }
        }
    }

    @Test
    void shouldUseTheStreamsOfThePolicy() throws Exception {
        var family = Path.of("/missing");
        var streams = List.of(Transports.supersockets(family), Transports.tcp());
        try (var listener = listen(new TestRequestHandler())) {
            var options = NodeOptions.of(TransportKind.SOCKETS);
            assertThatExceptionOfType(VolumeException.class)
                    .isThrownBy(() ->
                            NodeConnection.connect(
                                    listener.addresses(),
                                    options.streams(streams.subList(0, 1)),
                                    TestRequestHandler.deadline()))
                    .withMessageEndingWith("driver not loaded: there is no /missing");
            try (var connection =
                    NodeConnection.connect(
                            listener.addresses(),
                            options.streams(streams),
                            TestRequestHandler.deadline())) {
                assertThat(connection).asString().startsWith("sockets (tcp) to ");
            }
        }
    }

    @Test
    void shouldRejectMalformedAddresses() {
        for (var address : List.of("sockets:", "sockets:host", "sockets:host:x", "tcp:host:1")) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() ->
                            NodeConnection.connect(
                                    List.of(address),
                                    NodeOptions.ALL,
                                    TestRequestHandler.deadline()))
                    .withMessageContaining(address);
        }
    }
}
