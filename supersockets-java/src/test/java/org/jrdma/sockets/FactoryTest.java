package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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

/** Compares the sockets of the factories with those of the JDK's factories. */
@ParameterizedClass
@MethodSource("org.jrdma.sockets.Implementation#offered")
@Timeout(30)
class FactoryTest {

    @Parameter private Implementation implementation;

    private ServerSocket listener;
    private Socket client;
    private Socket server;

    @BeforeEach
    void open() throws IOException {
        listener =
                implementation.serverSocketFactory().createServerSocket(0, 5, ChannelPair.ADDRESS);
        client = connect();
        server = listener.accept();
    }

    private Socket connect() throws IOException {
        return implementation
                .socketFactory()
                .createSocket(ChannelPair.ADDRESS, listener.getLocalPort());
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        server.close();
        listener.close();
    }

    private static AbstractThrowableAssert<?, ?> assertRefused(
            ThrowingCallable call, String message) {
        return assertThatThrownBy(call)
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage(message);
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAReadWhenTheChannelIsClosed(Kind kind) throws Exception {
        assertThatACloseEndsARead(kind, client);
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAReadWhenTheAcceptedSocketIsClosed(Kind kind) throws Exception {
        assertThatACloseEndsARead(kind, server);
    }

    private static void assertThatACloseEndsARead(Kind kind, Socket socket) throws Exception {
        var reader = Tasks.start(kind, socket.getInputStream()::read).awaitWaiting();

        socket.close();

        assertThat(reader.failure())
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage("Socket closed");
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAnAcceptWhenTheListenerIsClosed(Kind kind) throws Exception {
        var acceptor = Tasks.start(kind, listener::accept).awaitWaiting();

        listener.close();

        assertThat(acceptor.failure())
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage("Socket closed");
        assertRefused(listener::accept, "Socket is closed");
        assertRefused(() -> listener.bind(null), "Socket is closed");
        assertRefused(() -> listener.setSoTimeout(-1), "Socket is closed");
        assertRefused(
                () -> listener.getOption(StandardSocketOptions.SO_RCVBUF), "Socket is closed");
    }

    @Test
    void shouldReportToAVirtualThreadThatAnInterruptHasClosedTheSocket() throws Exception {
        var reader = Tasks.start(Kind.VIRTUAL, client.getInputStream()::read).awaitWaiting();

        reader.thread().interrupt();

        assertThat(reader.failure())
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage("Closed by interrupt");
        assertThat(client.isClosed()).isTrue();
    }

    @Test
    void shouldCloseTheSocketOnAnInterruptOfAPlatformThreadOnlyIfDocumented() throws Exception {
        var reader = Tasks.start(client.getInputStream()::read).awaitWaiting();

        reader.thread().interrupt();

        if (implementation.differsIn(Difference.INTERRUPT_CLOSES_A_FACTORYS_SOCKET)) {
            assertThat(reader.failure())
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Closed by interrupt");
        } else {
            server.getOutputStream().write(7);
            assertThat(reader.get()).isEqualTo(7);
        }
    }

    @Test
    void shouldRejectOperationsOnAClosedSocket() throws Exception {
        var input = client.getInputStream();
        var output = client.getOutputStream();

        client.close();

        assertRefused(input::read, "Socket closed");
        assertRefused(() -> input.skip(1), "Socket closed");
        assertRefused(input::available, "Socket closed");
        assertRefused(() -> output.write(1), "Socket closed");
        assertThat(input.read(new byte[0])).isZero();
        output.write(new byte[0]);
        assertRefused(client::getInputStream, "Socket is closed");
        assertRefused(client::shutdownInput, "Socket is closed");
        assertRefused(client::shutdownOutput, "Socket is closed");
        assertRefused(() -> client.connect(listener.getLocalSocketAddress()), "Socket is closed");
        assertRefused(() -> client.bind(null), "Socket is closed");
        assertRefused(() -> client.setSoTimeout(-1), "Socket is closed");
        assertRefused(client::getSoLinger, "Socket is closed");
        assertRefused(
                () -> client.setOption(StandardSocketOptions.TCP_NODELAY, true),
                "Socket is closed");
        assertRefused(
                () -> client.getOption(StandardSocketOptions.TCP_NODELAY), "Socket is closed");
    }

    @Test
    void shouldReportItsPeerAfterItIsClosed() throws Exception {
        var port = client.getLocalPort();

        client.close();
        listener.close();

        assertThat(client.isConnected()).isTrue();
        assertThat(client.isBound()).isTrue();
        assertThat(client.getPort()).isEqualTo(listener.getLocalPort());
        assertThat(client)
                .hasToString(
                        "Socket[addr=%s,port=%d,localport=%d]"
                                .formatted(ChannelPair.ADDRESS, listener.getLocalPort(), port));
        assertThat(listener.isBound()).isTrue();
        assertThat(listener)
                .hasToString(
                        "ServerSocket[addr=%s,localport=%d]"
                                .formatted(listener.getInetAddress(), listener.getLocalPort()));
    }

    @Test
    void shouldRejectInvalidTimes() throws Exception {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> client.setSoTimeout(-1))
                .withMessage("timeout can't be negative");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> listener.setSoTimeout(-1))
                .withMessage("timeout < 0");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> client.setSoLinger(true, -1))
                .withMessage("invalid value for SO_LINGER");
        try (var other = implementation.socketFactory().createSocket()) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> other.connect(listener.getLocalSocketAddress(), -1))
                    .withMessage("connect: timeout can't be negative");
            assertThat(other.isClosed()).isFalse();
        }
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> client.setTrafficClass(256))
                .withMessage("tc is not in range 0 -- 255");
    }

    /** A timeout of 0 means no timeout. */
    @Test
    void shouldWaitForeverIfTheTimeoutIsZero() throws Exception {
        try (var other = implementation.socketFactory().createSocket()) {
            other.connect(listener.getLocalSocketAddress(), 0);
            assertThat(other.isConnected()).isTrue();
        }
        client.setSoTimeout(0);
        var reader = Tasks.start(client.getInputStream()::read).awaitWaiting();

        server.getOutputStream().write(7);

        assertThat(reader.get()).isEqualTo(7);
        client.setSoLinger(true, 70_000);
        assertThat(client.getSoLinger()).isEqualTo(65_535);
        client.setSoLinger(false, 0); // Otherwise, the close of the client may wait.
    }

    @Test
    void shouldTimeOut() throws Exception {
        client.setSoTimeout(50);
        listener.setSoTimeout(50);

        assertThatThrownBy(client.getInputStream()::read)
                .isExactlyInstanceOf(SocketTimeoutException.class)
                .hasMessage("Read timed out");
        assertThatThrownBy(listener::accept)
                .isExactlyInstanceOf(SocketTimeoutException.class)
                .hasMessage("Accept timed out");
    }

    @Test
    void shouldRejectWritesAfterTheShutdownOfTheOutput() throws Exception {
        var output = client.getOutputStream();
        var input = client.getInputStream();

        client.shutdownOutput();
        client.shutdownInput();

        assertRefused(() -> output.write(1), "Broken pipe");
        assertRefused(client::shutdownOutput, "Socket output is already shutdown");
        assertRefused(client::shutdownInput, "Socket input is already shutdown");
        assertThat(input.read()).isEqualTo(-1);
        assertThat(input.available()).isZero();
    }

    @Test
    void shouldRejectASecondConnectOrBind() throws Exception {
        assertRefused(() -> client.connect(listener.getLocalSocketAddress()), "Already connected");
        assertRefused(() -> client.bind(null), "Already bound");
        assertRefused(() -> listener.bind(null), "Already bound");
        assertThatExceptionOfType(BindException.class)
                .isThrownBy(() ->
                        implementation
                                .serverSocketFactory()
                                .createServerSocket(
                                        listener.getLocalPort(), 5, ChannelPair.ADDRESS));
    }

    @Test
    void shouldNotBeConnectedWithoutAListener() throws Exception {
        var unusedPort = listener.getLocalPort();
        listener.close();
        var factory = implementation.socketFactory();

        assertThatExceptionOfType(ConnectException.class)
                .isThrownBy(() -> factory.createSocket(ChannelPair.ADDRESS, unusedPort))
                .withMessageContaining("Connection refused");
        var unconnected = factory.createSocket();
        assertThatExceptionOfType(ConnectException.class)
                .isThrownBy(() ->
                        unconnected.connect(
                                new InetSocketAddress(ChannelPair.ADDRESS, unusedPort)));
        assertThat(unconnected.isClosed()).isTrue();
        assertThat(unconnected.isConnected()).isFalse();
        var toUnknownHost = factory.createSocket();
        assertThatExceptionOfType(UnknownHostException.class)
                .isThrownBy(() ->
                        toUnknownHost.connect(InetSocketAddress.createUnresolved("no.invalid", 1)));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> factory.createSocket(ChannelPair.ADDRESS, 65_536));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> implementation.serverSocketFactory().createServerSocket(-1));
    }
}
