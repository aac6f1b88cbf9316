package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.spi.SelectorProvider;
import java.util.Locale;
import org.jrdma.sockets.Tasks.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the sockets that the {@code socket} method of a channel returns. */
@ParameterizedClass
@MethodSource("org.jrdma.sockets.Implementation#offered")
@Timeout(30)
class AdaptorTest {

    @Parameter private Implementation implementation;

    private SelectorProvider provider;
    private ChannelPair pair;
    private Socket client;
    private Socket server;

    @BeforeEach
    void open() throws IOException {
        provider = implementation.provider();
        pair = ChannelPair.open(implementation);
        client = pair.client().socket();
        server = pair.server().socket();
    }

    @AfterEach
    void close() throws IOException {
        pair.close();
    }

    @Test
    void shouldReturnItsChannelAndItsAddresses() throws Exception {
        assertThat(client.getChannel()).isSameAs(pair.client());
        assertThat(pair.client().socket()).isSameAs(client);
        assertThat(client.getLocalSocketAddress()).isEqualTo(pair.client().getLocalAddress());
        assertThat(client.getRemoteSocketAddress()).isEqualTo(pair.client().getRemoteAddress());
        assertThat(client.getInetAddress()).isEqualTo(server.getLocalAddress());
        assertThat(client.getPort()).isEqualTo(server.getLocalPort());
        assertThat(client.isConnected()).isTrue();
        assertThat(client.isBound()).isTrue();
        assertThat(client.isClosed()).isFalse();
        assertThat(client)
                .hasToString(
                        "Socket[addr=%s,port=%d,localport=%d]"
                                .formatted(
                                        client.getInetAddress(),
                                        client.getPort(),
                                        client.getLocalPort()));
    }

    @Test
    void shouldReportThatItIsNotConnected() throws Exception {
        try (var channel = provider.openSocketChannel()) {
            var socket = channel.socket();

            assertThat(socket.isConnected()).isFalse();
            assertThat(socket.isBound()).isFalse();
            assertThat(socket.getInetAddress()).isNull();
            assertThat(socket.getPort()).isZero();
            assertThat(socket.getLocalPort()).isEqualTo(-1);
            assertThat(socket.getRemoteSocketAddress()).isNull();
            assertThat(socket.getLocalSocketAddress()).isNull();
            assertThat(socket.getLocalAddress().isAnyLocalAddress()).isTrue();
            assertThat(socket).hasToString("Socket[unconnected]");
            assertThatThrownBy(socket::getInputStream)
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Socket is not connected");
            assertThatThrownBy(socket::shutdownOutput)
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Socket is not connected");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTransferBytesByItsStreams(Kind kind) throws Exception {
        var echo =
                Tasks.start(
                        kind,
                        () -> {
                            server.getInputStream().transferTo(server.getOutputStream());
                            server.shutdownOutput();
                            return true;
                        });
        var bytes = TestBytes.many(1_000_000);
        var reader = Tasks.start(kind, () -> client.getInputStream().readAllBytes());
        var output = client.getOutputStream();
        output.write(7);
        output.write(bytes);
        client.shutdownOutput();

        var received = reader.get();

        assertThat(echo.get()).isTrue();
        assertThat(received).hasSize(bytes.length + 1).startsWith(7).endsWith(bytes);
        assertThat(client.getInputStream().read()).isEqualTo(-1);
        assertThat(client.isOutputShutdown()).isTrue();
        assertThat(client.isInputShutdown()).isFalse();
        assertThatThrownBy(client::getOutputStream)
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage("Socket output is shutdown");
    }

    @Test
    void shouldReportTheNumberOfAvailableBytes() throws Exception {
        assertThat(client.getInputStream().available()).isZero();
        server.getOutputStream().write(new byte[5]);
        assertThat(client.getInputStream().read()).isZero();

        assertThat(client.getInputStream().available()).isEqualTo(4);
    }

    @ParameterizedTest
    @EnumSource
    void shouldTimeOutAReadAndReadAgainAfterwards(Kind kind) throws Exception {
        client.setSoTimeout(100);
        assertThat(client.getSoTimeout()).isEqualTo(100);
        var input = client.getInputStream();
        var reader = Tasks.start(kind, () -> input.read());

        assertThat(reader.failure())
                .isExactlyInstanceOf(SocketTimeoutException.class)
                .hasMessage("Read timed out");

        server.getOutputStream().write(42);
        assertThat(input.read()).isEqualTo(42);
    }

    @Test
    void shouldNotBlockAWriterDuringARead() throws Exception {
        var reader = Tasks.start(() -> client.getInputStream().read()).awaitWaiting();

        client.getOutputStream().write(1);

        assertThat(server.getInputStream().read()).isEqualTo(1);
        server.getOutputStream().write(2);
        assertThat(reader.get()).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAReadWhenTheChannelIsClosed(Kind kind) throws Exception {
        var input = client.getInputStream();
        var output = client.getOutputStream();
        var reader = Tasks.start(kind, () -> input.read()).awaitWaiting();

        client.close();

        assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
        assertThatThrownBy(input::read).isExactlyInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(input::available).isExactlyInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> output.write(1)).isExactlyInstanceOf(ClosedChannelException.class);
        assertThat(client.isClosed()).isTrue();
        assertThatThrownBy(client::getInputStream)
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage("Socket is closed");
        assertThatThrownBy(() -> client.setSoTimeout(1))
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage("Socket is closed");
        assertThatThrownBy(() -> client.setTcpNoDelay(true))
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage("Socket is closed");
    }

    @Test
    void shouldRejectStreamsOfANonBlockingChannel() throws Exception {
        pair.client().configureBlocking(false);

        assertThatExceptionOfType(IllegalBlockingModeException.class)
                .isThrownBy(() -> client.getInputStream().read());
        assertThatExceptionOfType(IllegalBlockingModeException.class)
                .isThrownBy(() -> client.getOutputStream().write(1));
    }

    @Test
    void shouldSetOptions() throws Exception {
        client.setTcpNoDelay(true);
        client.setKeepAlive(true);
        client.setSoLinger(true, 3);
        client.setSendBufferSize(16_384);
        client.setReceiveBufferSize(16_384);
        client.setTrafficClass(8);
        client.setReuseAddress(true);
        client.setOOBInline(true);

        assertThat(client.getTcpNoDelay()).isTrue();
        assertThat(client.getKeepAlive()).isTrue();
        assertThat(client.getSoLinger()).isEqualTo(3);
        assertThat(client.getSendBufferSize()).isEqualTo(16_384);
        assertThat(client.getReceiveBufferSize()).isEqualTo(16_384);
        assertThat(client.getTrafficClass()).isEqualTo(8);
        assertThat(client.getReuseAddress()).isTrue();
        assertThat(client.getOOBInline()).isTrue();
        client.setSoLinger(false, 3);
        assertThat(client.getSoLinger()).isEqualTo(-1);
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> client.setSendBufferSize(0));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> client.setSoTimeout(-1));
    }

    @Test
    void shouldReceiveUrgentDataInlineIfRequested() throws Exception {
        server.setOOBInline(true);
        if (implementation.differsIn(Difference.NO_URGENT_DATA)) {
            assertThatThrownBy(() -> client.sendUrgentData(65))
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage(
                            "The transport %s does not support urgent data"
                                    .formatted(implementation.name().toLowerCase(Locale.ROOT)));
            return;
        }

        client.sendUrgentData(65);

        assertThat(server.getInputStream().read()).isEqualTo(65);
    }

    @Test
    void shouldConnectWithATimeout() throws Exception {
        try (var listener = ChannelPair.listener(provider);
                var channel = provider.openSocketChannel()) {
            channel.socket().connect(listener.getLocalAddress(), 1_000);

            assertThat(channel.isConnected()).isTrue();
            assertThatThrownBy(() -> channel.socket().connect(listener.getLocalAddress(), 1_000))
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Already connected");
        }
    }

    @Test
    void shouldFailToConnectWithoutAListener() throws Exception {
        InetSocketAddress unusedAddress;
        try (var listener = ChannelPair.listener(provider)) {
            unusedAddress = (InetSocketAddress) listener.getLocalAddress();
        }
        var socket = provider.openSocketChannel().socket();
        assertThatThrownBy(() -> socket.connect(unusedAddress, 1_000))
                .isExactlyInstanceOf(ConnectException.class)
                .hasMessage("Connection refused");
        assertThat(socket.isClosed()).isTrue();

        var other = provider.openSocketChannel().socket();
        assertThatExceptionOfType(UnknownHostException.class)
                .isThrownBy(
                        () -> other.connect(InetSocketAddress.createUnresolved("no.invalid", 1)));
        assertThat(other.isClosed()).isTrue();
        try (var third = provider.openSocketChannel().socket()) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> third.connect(null));
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> third.connect(unusedAddress, -1));
        }
    }

    @Test
    void shouldListenAndAcceptByItsSocket() throws Exception {
        try (var listener = provider.openServerSocketChannel()) {
            ServerSocket socket = listener.socket();
            assertThat(socket.isBound()).isFalse();
            assertThat(socket.getLocalPort()).isEqualTo(-1);
            assertThat(socket.getInetAddress()).isNull();
            assertThatThrownBy(socket::accept)
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Socket is not bound yet");

            socket.bind(ChannelPair.ANY_PORT, 5);

            assertThat(socket.isBound()).isTrue();
            assertThat(socket.getLocalSocketAddress()).isEqualTo(listener.getLocalAddress());
            assertThat(socket.getChannel()).isSameAs(listener);
            assertThatThrownBy(() -> socket.bind(null))
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Already bound");
            try (var channel = provider.openSocketChannel()) {
                channel.connect(socket.getLocalSocketAddress());
                try (var accepted = socket.accept()) {
                    assertThat(accepted.getRemoteSocketAddress())
                            .isEqualTo(channel.getLocalAddress());
                    assertThat(accepted.getChannel().provider()).isSameAs(provider);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAnAcceptWhenTheListenerIsClosed(Kind kind) throws Exception {
        var socket = ChannelPair.listener(provider).socket();
        var acceptor = Tasks.start(kind, socket::accept).awaitWaiting();

        socket.close();

        assertThat(acceptor.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
        assertThatThrownBy(socket::accept).isExactlyInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> socket.setReuseAddress(true))
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage("Socket is closed");
        assertThat(socket.isClosed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void shouldTimeOutAnAccept(Kind kind) throws Exception {
        try (var listener = ChannelPair.listener(provider)) {
            var socket = listener.socket();
            socket.setSoTimeout(100);

            assertThat(Tasks.start(kind, socket::accept).failure())
                    .isExactlyInstanceOf(SocketTimeoutException.class)
                    .hasMessage("Accept timed out");
            listener.configureBlocking(false);
            assertThatExceptionOfType(IllegalBlockingModeException.class)
                    .isThrownBy(socket::accept);
        }
    }
}
