package org.jrdma.sockets;

import static java.net.StandardProtocolFamily.UNIX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import jdk.net.ExtendedSocketOptions;
import org.jrdma.sockets.Tasks.Kind;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests streams over Unix domain sockets. */
@ParameterizedClass
@MethodSource("org.jrdma.sockets.Implementation#offered")
@Timeout(30)
class UnixChannelTest {

    @Parameter private Implementation implementation;
    @TempDir private Path folder;

    private SelectorProvider provider;
    private UnixDomainSocketAddress address;

    @BeforeEach
    void initProvider() {
        provider = implementation.provider();
        address = UnixDomainSocketAddress.of(folder.resolve("socket"));
    }

    @Test
    void shouldTransferBytesAndReturnItsAddresses() throws Exception {
        try (var listener = provider.openServerSocketChannel(UNIX).bind(address);
                var client = provider.openSocketChannel(UNIX)) {
            client.connect(address);
            try (var server = listener.accept()) {
                client.write(TestBytes.of("abc"));
                client.shutdownOutput();

                assertThat(TestBytes.read(server, 10)).isEqualTo("abc");
                assertThat(listener.getLocalAddress()).isEqualTo(address);
                assertThat(client.getRemoteAddress()).isEqualTo(address);
                assertThat(client.getLocalAddress()).isEqualTo(UnixDomainSocketAddress.of(""));
                assertThat(server.getLocalAddress()).isEqualTo(address);
                assertThat(server.getRemoteAddress()).isEqualTo(UnixDomainSocketAddress.of(""));
            }
        }
        assertThat(folder.resolve("socket")).exists();
    }

    @Test
    void shouldBindAClientToAPath() throws Exception {
        var clientAddress = UnixDomainSocketAddress.of(folder.resolve("client"));
        try (var listener = provider.openServerSocketChannel(UNIX).bind(address);
                var client = provider.openSocketChannel(UNIX).bind(clientAddress)) {
            client.connect(address);
            try (var server = listener.accept()) {
                assertThat(server.getRemoteAddress()).isEqualTo(clientAddress);
            }
        }
        try (var unnamed = provider.openSocketChannel(UNIX).bind(null)) {
            assertThat(unnamed.getLocalAddress()).isEqualTo(UnixDomainSocketAddress.of(""));
        }
    }

    @Test
    void shouldChooseAPathForAListener() throws Exception {
        try (var listener = provider.openServerSocketChannel(UNIX).bind(null)) {
            var path = ((UnixDomainSocketAddress) listener.getLocalAddress()).getPath();
            assertThat(path).hasParent(Path.of(System.getProperty("java.io.tmpdir")));
            try (var client = provider.openSocketChannel(UNIX)) {
                client.connect(listener.getLocalAddress());
            } finally {
                Files.delete(path);
            }
        }
    }

    @Test
    void shouldRejectInvalidPaths() throws Exception {
        try (var listener = provider.openServerSocketChannel(UNIX).bind(address);
                var second = provider.openServerSocketChannel(UNIX)) {
            assertThatThrownBy(() -> second.bind(listener.getLocalAddress()))
                    .isExactlyInstanceOf(BindException.class)
                    .hasMessage("Address already in use");
            var tooLong = UnixDomainSocketAddress.of("/" + "x".repeat(120));
            assertThatThrownBy(() -> second.bind(tooLong))
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Unix domain path too long");
            assertThatExceptionOfType(UnsupportedAddressTypeException.class)
                    .isThrownBy(() -> second.bind(new InetSocketAddress(0)));
        }
        assertThatThrownBy(() -> provider.openSocketChannel(UNIX).connect(address))
                .isExactlyInstanceOf(ConnectException.class)
                .hasMessage("Connection refused");
        var missing = UnixDomainSocketAddress.of(folder.resolve("missing"));
        assertThatThrownBy(() -> provider.openSocketChannel(UNIX).connect(missing))
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage("No such file or directory");
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAReadWhenTheChannelIsClosed(Kind kind) throws Exception {
        try (var listener = provider.openServerSocketChannel(UNIX).bind(address)) {
            var client = provider.openSocketChannel(UNIX);
            client.connect(address);
            var reader = Tasks.start(kind, () -> client.read(ByteBuffer.allocate(1)));
            reader.awaitWaiting();

            client.close();

            assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
            listener.accept().close();
        }
    }

    @Test
    void shouldBeSelectedWhenItIsReady() throws Exception {
        try (var listener = provider.openServerSocketChannel(UNIX).bind(address);
                var client = provider.openSocketChannel(UNIX);
                var selector = provider.openSelector()) {
            client.connect(address);
            client.configureBlocking(false);
            var key = client.register(selector, SelectionKey.OP_READ);
            assertThat(selector.selectNow()).isZero();

            try (var server = listener.accept()) {
                server.write(TestBytes.of("a"));
                assertThat(selector.select()).isEqualTo(1);
                assertThat(key.isReadable()).isTrue();
            }
        }
    }

    @Test
    void shouldWaitForAFreeSlotInTheAcceptQueue() throws Exception {
        try (var listener = provider.openServerSocketChannel(UNIX).bind(address, 1)) {
            var clients = new ArrayList<SocketChannel>();
            var connecting =
                    Tasks.start(() -> {
                        for (var i = 0; i < 10; i++) {
                            var client = provider.openSocketChannel(UNIX);
                            client.connect(address);
                            clients.add(client);
                        }
                        return clients.size();
                    });
            connecting.awaitWaiting();

            for (var i = 0; i < 10; i++) {
                listener.accept().close();
            }

            assertThat(connecting.get()).isEqualTo(10);
            for (var client : clients) {
                client.close();
            }
        }
    }

    @Test
    void shouldHaveTheOptionsOfTheJdkAndNoSocket() throws Exception {
        try (var channel = provider.openSocketChannel(UNIX);
                var reference = Implementation.JDK.provider().openSocketChannel(UNIX)) {
            var expected = new HashSet<SocketOption<?>>(reference.supportedOptions());
            if (implementation.differsIn(Difference.NO_PEER_CREDENTIALS)) {
                assertThat(expected.remove(ExtendedSocketOptions.SO_PEERCRED)).isTrue();
            }
            assertThat(channel.supportedOptions()).isEqualTo(expected);
            channel.setOption(StandardSocketOptions.SO_SNDBUF, 16_384);
            assertThat(channel.getOption(StandardSocketOptions.SO_SNDBUF)).isEqualTo(16_384);
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(channel::socket);
        }
    }
}
