package org.jrdma.sockets;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.channels.spi.SelectorProvider;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.assertj.core.api.ThrowableAssert;
import org.jrdma.sockets.Tasks.Kind;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@ParameterizedClass
@MethodSource("org.jrdma.sockets.Implementation#offered")
@Timeout(30)
class StreamChannelTest {

    @Parameter private Implementation implementation;

    private SelectorProvider provider;

    @BeforeEach
    void initProvider() {
        provider = implementation.provider();
    }

    @Test
    void shouldRejectReadsAndWritesBeforeAConnection() throws Exception {
        try (var channel = provider.openSocketChannel()) {
            assertThatExceptionOfType(NotYetConnectedException.class)
                    .isThrownBy(() -> channel.read(ByteBuffer.allocate(1)));
            assertThatExceptionOfType(NotYetConnectedException.class)
                    .isThrownBy(() -> channel.write(TestBytes.of("a")));
            assertThatExceptionOfType(NotYetConnectedException.class)
                    .isThrownBy(channel::shutdownInput);
            assertThatExceptionOfType(NotYetConnectedException.class)
                    .isThrownBy(channel::shutdownOutput);
            assertThatExceptionOfType(NoConnectionPendingException.class)
                    .isThrownBy(channel::finishConnect);
            assertThat(channel.getLocalAddress()).isNull();
            assertThat(channel.getRemoteAddress()).isNull();
            assertThat(channel.isConnected()).isFalse();
            assertThat(channel.isConnectionPending()).isFalse();
            assertThat(channel.isBlocking()).isTrue();
            assertThat(channel.provider()).isSameAs(provider);
            assertThat(channel.validOps())
                    .isEqualTo(
                            SelectionKey.OP_CONNECT | SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        }
    }

    @Test
    void shouldConnectAndTransferBytesInBothDirections() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            assertThat(pair.client().write(TestBytes.of("question"))).isEqualTo(8);
            assertThat(TestBytes.read(pair.server(), 8)).isEqualTo("question");
            pair.server().write(TestBytes.of("answer"));
            assertThat(TestBytes.read(pair.client(), 6)).isEqualTo("answer");

            assertThat(pair.client().isConnected()).isTrue();
            assertThat(pair.client().getLocalAddress()).isEqualTo(pair.server().getRemoteAddress());
            assertThat(pair.client().getRemoteAddress()).isEqualTo(pair.server().getLocalAddress());
            assertThat(pair.server().isBlocking()).isTrue();
        }
    }

    @Test
    void shouldConnectToThisMachineByTheWildcardAddress() throws Exception {
        var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (var listener = provider.openServerSocketChannel().bind(loopback);
                var client = provider.openSocketChannel()) {
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();

            assertThat(
                            client.connect(
                                    new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), port)))
                    .isTrue();

            assertThat(client.getRemoteAddress())
                    .isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
        }
    }

    @Test
    void shouldReachIpv6FromAChannelWithoutAFamily() throws Exception {
        try (var listener = provider.openServerSocketChannel(StandardProtocolFamily.INET6);
                var client = provider.openSocketChannel()) {
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            listener.bind(new InetSocketAddress(InetAddress.ofLiteral("::1"), 0));

            client.connect(listener.getLocalAddress());

            assertThat(client.getRemoteAddress()).isEqualTo(listener.getLocalAddress());
            assertThat(client.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
        }
    }

    @Test
    void shouldCloseAChannelWhoseConnectionIsRefused() throws Exception {
        var unused = unusedAddress();
        var channel = provider.openSocketChannel();

        assertThatThrownBy(() -> channel.connect(unused))
                .isExactlyInstanceOf(ConnectException.class)
                .hasMessage("Connection refused");

        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void shouldRejectASecondConnectionAndKeepTheFirst() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            assertThatExceptionOfType(AlreadyConnectedException.class)
                    .isThrownBy(() -> pair.client().connect(pair.client().getRemoteAddress()));
            assertThat(pair.client().finishConnect()).isTrue();
            pair.client().write(TestBytes.of("a"));
            assertThat(TestBytes.read(pair.server(), 1)).isEqualTo("a");
        }
    }

    @Test
    void shouldConnectInNonBlockingMode() throws Exception {
        try (var listener = ChannelPair.listener(provider);
                var selector = provider.openSelector();
                var client = provider.openSocketChannel()) {
            client.configureBlocking(false);
            if (!client.connect(listener.getLocalAddress())) {
                assertThat(client.isConnectionPending()).isTrue();
                assertThatExceptionOfType(ConnectionPendingException.class)
                        .isThrownBy(() -> client.connect(listener.getLocalAddress()));
                assertThatExceptionOfType(NotYetConnectedException.class)
                        .isThrownBy(() -> client.read(ByteBuffer.allocate(1)));
                client.register(selector, SelectionKey.OP_CONNECT);
                assertThat(selector.select()).isEqualTo(1);
                assertThat(selector.selectedKeys().iterator().next().isConnectable()).isTrue();
                assertThat(client.finishConnect()).isTrue();
            }
            assertThat(client.isConnected()).isTrue();
            implementation.assertTransport(client);
            assertThat(client.isConnectionPending()).isFalse();
            assertThat(client.read(ByteBuffer.allocate(1))).isZero();
        }
    }

    @Test
    void shouldReportARefusedConnectionInFinishConnect() throws Exception {
        var unused = unusedAddress();
        try (var selector = provider.openSelector()) {
            var client = provider.openSocketChannel();
            client.configureBlocking(false);
            assertThatThrownBy(
                            () -> {
                                client.connect(unused);
                                client.register(selector, SelectionKey.OP_CONNECT);
                                selector.select();
                                client.finishConnect();
                            })
                    .isExactlyInstanceOf(ConnectException.class)
                    .hasMessage("Connection refused");
            assertThat(client.isOpen()).isFalse();
        }
    }

    @Test
    void shouldRejectUnusableAddresses() throws Exception {
        try (var channel = provider.openSocketChannel()) {
            assertThatExceptionOfType(UnresolvedAddressException.class)
                    .isThrownBy(
                            () -> channel.connect(InetSocketAddress.createUnresolved("unused", 1)));
            assertThatExceptionOfType(UnsupportedAddressTypeException.class)
                    .isThrownBy(() -> channel.connect(UnixDomainSocketAddress.of("/x")));
            assertThatExceptionOfType(NullPointerException.class)
                    .isThrownBy(() -> channel.connect(null));
            assertThat(channel.isOpen()).isTrue();
        }
    }

    @Test
    void shouldRejectIpv6OnAChannelForIpv4() throws Exception {
        try (var channel = provider.openSocketChannel(StandardProtocolFamily.INET)) {
            assertThatExceptionOfType(UnsupportedAddressTypeException.class)
                    .isThrownBy(() ->
                            channel.connect(
                                    new InetSocketAddress(InetAddress.ofLiteral("::1"), 1)));
        }
    }

    @Test
    void shouldBindOnlyOnceAndOnlyToAFreePort() throws Exception {
        try (var listener = ChannelPair.listener(provider);
                var channel = provider.openSocketChannel()) {
            assertThatThrownBy(() -> channel.bind(listener.getLocalAddress()))
                    .isExactlyInstanceOf(BindException.class)
                    .hasMessage("Address already in use");

            channel.bind(ChannelPair.ANY_PORT);

            assertThat(((InetSocketAddress) channel.getLocalAddress()).getPort()).isPositive();
            assertThatExceptionOfType(AlreadyBoundException.class)
                    .isThrownBy(() -> channel.bind(null));
            assertThatExceptionOfType(AlreadyBoundException.class)
                    .isThrownBy(() -> listener.bind(null));
        }
    }

    @Test
    void shouldRejectAcceptBeforeItListens() throws Exception {
        try (var listener = provider.openServerSocketChannel()) {
            assertThatExceptionOfType(NotYetBoundException.class).isThrownBy(listener::accept);
            assertThat(listener.getLocalAddress()).isNull();
            assertThat(listener.validOps()).isEqualTo(SelectionKey.OP_ACCEPT);
            assertThat(listener.getOption(StandardSocketOptions.SO_REUSEADDR)).isTrue();
        }
    }

    @Test
    void shouldListenAtAllAddressesByDefault() throws Exception {
        try (var listener = provider.openServerSocketChannel().bind(null)) {
            var local = (InetSocketAddress) listener.getLocalAddress();
            assertThat(local.getAddress().isAnyLocalAddress()).isTrue();

            try (var client = provider.openSocketChannel()) {
                client.connect(
                        new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), local.getPort()));
            }
            try (var client = provider.openSocketChannel()) {
                var ipv6 = new InetSocketAddress(InetAddress.ofLiteral("::1"), local.getPort());
                if (implementation.differsIn(Difference.LISTENS_ONLY_ON_IPV4)) {
                    assertThatExceptionOfType(ConnectException.class)
                            .isThrownBy(() -> client.connect(ipv6));
                } else {
                    client.connect(ipv6);
                }
            }
        }
    }

    @Test
    void shouldReturnNullFromANonBlockingAcceptWithoutAClient() throws Exception {
        try (var listener = ChannelPair.listener(provider)) {
            listener.configureBlocking(false);

            assertThat(listener.accept()).isNull();
        }
    }

    @Test
    void shouldEndOneDirectionAndKeepTheOther() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            pair.client().write(TestBytes.of("last"));
            pair.client().shutdownOutput().shutdownOutput();

            assertThat(TestBytes.read(pair.server(), 10)).isEqualTo("last");
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThatThrownBy(() -> pair.client().write(TestBytes.of("a")))
                    .isExactlyInstanceOf(AsynchronousCloseException.class);
            pair.server().write(TestBytes.of("still"));
            assertThat(TestBytes.read(pair.client(), 5)).isEqualTo("still");
        }
    }

    @Test
    void shouldReadTheEndAfterItsInputIsShutDown() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            pair.server().write(TestBytes.of("unread"));
            pair.client().shutdownInput();

            assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAReadWhenTheInputIsShutDown(Kind kind) throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var reader = Tasks.start(kind, () -> pair.client().read(ByteBuffer.allocate(1)));
            reader.awaitWaiting();

            pair.client().shutdownInput();
            if (implementation.differsIn(Difference.SHUTDOWN_DOES_NOT_WAKE_WAITING_THREADS)) {
                pair.server().close();
            }

            assertThat(reader.get()).isEqualTo(-1);
        }
    }

    @Test
    void shouldReadIntoBuffersOfEveryKind() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            assertThat(pair.client().read(ByteBuffer.allocate(0))).isZero();
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(
                            () -> pair.client().read(ByteBuffer.allocate(1).asReadOnlyBuffer()));

            pair.server().write(TestBytes.of("abcdefgh"));
            var heap = ByteBuffer.allocate(6).position(1).limit(4);
            var direct = ByteBuffer.allocateDirect(6).position(2).limit(5);
            assertThat(pair.client().read(heap)).isEqualTo(3);
            assertThat(pair.client().read(direct)).isEqualTo(3);
            assertThat(new String(heap.array(), 1, 3, US_ASCII)).isEqualTo("abc");
            assertThat(US_ASCII.decode(direct.flip().position(2)).toString()).isEqualTo("def");
            assertThat(heap.position()).isEqualTo(4);
        }
    }

    @Test
    void shouldScatterAndGather() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var sources =
                    new ByteBuffer[] {
                        TestBytes.of("left out"),
                        TestBytes.of("ab"),
                        ByteBuffer.allocate(0),
                        TestBytes.direct("cde".getBytes(US_ASCII)),
                        TestBytes.of("fg").asReadOnlyBuffer()
                    };
            assertThat(pair.client().write(sources, 1, 4)).isEqualTo(7);
            assertThat(sources[0].remaining()).isEqualTo(8);
            assertThat(Arrays.stream(sources, 1, 5)).noneMatch(ByteBuffer::hasRemaining);

            var first = ByteBuffer.allocate(3);
            var second = ByteBuffer.allocateDirect(10);
            var read = 0L;
            while (read < 7) {
                read += pair.server().read(new ByteBuffer[] {first, second});
            }
            assertThat(new String(first.array(), US_ASCII)).isEqualTo("abc");
            assertThat(US_ASCII.decode(second.flip()).toString()).isEqualTo("defg");
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> pair.client().write(sources, 3, 3));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> pair.client().read(sources, -1, 1));
            assertThat(pair.client().write(new ByteBuffer[0])).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldWriteAllBytesInBlockingMode(Kind kind) throws Exception {
        var bytes = TestBytes.many(3_000_001);
        try (var pair = ChannelPair.open(implementation)) {
            var reader =
                    Tasks.start(kind, () -> TestBytes.readBytes(pair.server(), 3 * bytes.length));
            var buffers =
                    new ByteBuffer[] {
                        ByteBuffer.wrap(bytes, 0, 1_000_000),
                        TestBytes.direct(Arrays.copyOfRange(bytes, 1_000_000, bytes.length))
                    };
            var writer =
                    Tasks.start(
                            kind,
                            () -> {
                                writeAll(pair.client(), ByteBuffer.wrap(bytes));
                                writeAll(pair.client(), TestBytes.direct(bytes));
                                while (buffers[1].hasRemaining()) {
                                    pair.client().write(buffers);
                                }
                                return pair.client().shutdownOutput();
                            });

            var received = reader.get();

            writer.get();
            for (var i = 0; i < 3; i++) {
                assertThat(Arrays.copyOfRange(received, i * bytes.length, (i + 1) * bytes.length))
                        .isEqualTo(bytes);
            }
        }
    }

    private static void writeAll(SocketChannel channel, ByteBuffer source) throws IOException {
        while (source.hasRemaining()) {
            channel.write(source);
        }
    }

    @Test
    void shouldWriteAPartInNonBlockingMode() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            pair.client().configureBlocking(false);
            assertThat(pair.client().read(ByteBuffer.allocate(1))).isZero();

            var bytes = TestBytes.many(64 << 20);
            var source = ByteBuffer.wrap(bytes);
            var written = pair.client().write(source);
            assertThat(written).isPositive().isLessThan(bytes.length);
            assertThat(source.position()).isEqualTo(written);

            var total = written;
            for (var more = 1; more > 0; total += more) {
                more = pair.client().write(source);
            }
            pair.client().close();
            assertThat(TestBytes.readBytes(pair.server(), bytes.length))
                    .isEqualTo(Arrays.copyOf(bytes, total));
        }
    }

    @Test
    void shouldReadAndWriteConcurrently() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var reader = Tasks.start(() -> TestBytes.read(pair.client(), 1)).awaitWaiting();

            pair.client().write(TestBytes.of("a"));

            assertThat(TestBytes.read(pair.server(), 1)).isEqualTo("a");
            pair.server().write(TestBytes.of("b"));
            assertThat(reader.get()).isEqualTo("b");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAReadWhenTheChannelIsClosed(Kind kind) throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var reader = Tasks.start(kind, () -> pair.client().read(ByteBuffer.allocate(1)));
            reader.awaitWaiting();

            pair.client().close();

            assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAWriteWhenTheChannelIsClosed(Kind kind) throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var writer =
                    Tasks.start(
                            kind,
                            () -> {
                                while (true) {
                                    pair.client().write(ByteBuffer.allocate(100_000));
                                }
                            });
            writer.awaitWaiting();

            pair.client().close();

            assertThat(writer.failure()).isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void shouldKeepAllBytesForALateReader() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var written = ChannelPair.fill(pair.client());
            pair.client().close();

            var endTimesOut = implementation.differsIn(Difference.END_TIMES_OUT_AFTER_TEN_SECONDS);
            Thread.sleep(endTimesOut ? 12_000 : 200);

            assertThat(TestBytes.readBytes(pair.server(), written)).hasSize(written);
            if (endTimesOut) {
                assertThatThrownBy(() -> pair.server().read(ByteBuffer.allocate(1)))
                        .isExactlyInstanceOf(SocketException.class)
                        .hasMessage("Connection reset");
            } else {
                assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAWriteWhenTheOutputIsShutDown(Kind kind) throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var writer =
                    Tasks.start(
                            kind,
                            () -> {
                                while (true) {
                                    pair.client().write(ByteBuffer.allocate(100_000));
                                }
                            });
            writer.awaitWaiting();

            pair.client().shutdownOutput();
            if (implementation.differsIn(Difference.SHUTDOWN_DOES_NOT_WAKE_WAITING_THREADS)) {
                pair.server().close();
            }

            assertThat(writer.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThat(pair.client().isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAnAcceptWhenTheListenerIsClosed(Kind kind) throws Exception {
        var listener = ChannelPair.listener(provider);
        var acceptor = Tasks.start(kind, listener::accept).awaitWaiting();

        listener.close();

        assertThat(acceptor.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    }

    @ParameterizedTest
    @EnumSource
    void shouldCloseTheChannelWhenAReadIsInterrupted(Kind kind) throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var reader =
                    Tasks.start(
                            kind,
                            () -> {
                                try {
                                    return pair.client().read(ByteBuffer.allocate(1));
                                } catch (ClosedByInterruptException _) {
                                    return Thread.interrupted() ? -100 : -200;
                                }
                            });
            reader.awaitWaiting();

            reader.thread().interrupt();

            assertThat(reader.get()).isEqualTo(-100);
            assertThat(pair.client().isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldCloseTheChannelIfTheThreadIsAlreadyInterrupted(Kind kind) throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            var writer =
                    Tasks.start(
                            kind,
                            () -> {
                                Thread.currentThread().interrupt();
                                return pair.client().write(TestBytes.of("a"));
                            });

            assertThat(writer.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
            assertThat(pair.client().isOpen()).isFalse();
        }
    }

    @Test
    void shouldIgnoreAnInterruptInNonBlockingMode() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            pair.client().configureBlocking(false);
            Thread.currentThread().interrupt();

            assertThat(pair.client().write(TestBytes.of("a"))).isEqualTo(1);

            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void shouldReportAResetInEachRead() throws Exception {
        try (var pair = ChannelPair.open(implementation)) {
            pair.server().setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.server().close();

            if (implementation.differsIn(Difference.CLOSE_WITHOUT_LINGERING_IS_NO_RESET)) {
                assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
                return;
            }
            for (var i = 0; i < 2; i++) {
                assertThatThrownBy(() -> pair.client().read(ByteBuffer.allocate(1)))
                        .isExactlyInstanceOf(SocketException.class)
                        .hasMessage("Connection reset");
            }
            assertThatThrownBy(() -> pair.client().write(TestBytes.of("a")))
                    .isExactlyInstanceOf(IOException.class)
                    .hasMessage("Broken pipe");
        }
    }

    @Test
    void shouldRejectAllOperationsAfterItIsClosed() throws Exception {
        var channel = provider.openSocketChannel();
        channel.close();
        channel.close();

        assertThat(channel.isOpen()).isFalse();
        for (var operation :
                new ThrowableAssert.ThrowingCallable[] {
                    () -> channel.read(ByteBuffer.allocate(1)),
                    () -> channel.write(TestBytes.of("a")),
                    () -> channel.bind(null),
                    () -> channel.connect(ChannelPair.ANY_PORT),
                    channel::finishConnect,
                    channel::getLocalAddress,
                    channel::getRemoteAddress,
                    channel::shutdownInput,
                    channel::shutdownOutput,
                    () -> channel.configureBlocking(false),
                    () -> channel.getOption(StandardSocketOptions.SO_SNDBUF),
                    () -> channel.setOption(StandardSocketOptions.SO_SNDBUF, 1)
                }) {
            assertThatThrownBy(operation).isExactlyInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void shouldKeepOptions() throws Exception {
        try (var channel = provider.openSocketChannel()) {
            assertThat(channel.setOption(StandardSocketOptions.TCP_NODELAY, true))
                    .isSameAs(channel);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                    .setOption(StandardSocketOptions.SO_SNDBUF, 16_384)
                    .setOption(StandardSocketOptions.SO_RCVBUF, 32_768)
                    .setOption(StandardSocketOptions.IP_TOS, 0x10)
                    .setOption(StandardSocketOptions.SO_REUSEADDR, true);

            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.SO_SNDBUF)).isEqualTo(16_384);
            assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF)).isEqualTo(32_768);
            assertThat(channel.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(0x10);
            assertThat(channel.getOption(StandardSocketOptions.SO_REUSEADDR)).isTrue();
            assertThat(channel.getOption(StandardSocketOptions.SO_REUSEPORT)).isFalse();
            assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(-1);
            for (var seconds : new int[] {0, 7, -1, -5, 100_000}) {
                channel.setOption(StandardSocketOptions.SO_LINGER, seconds);
                assertThat(channel.getOption(StandardSocketOptions.SO_LINGER))
                        .isEqualTo(Math.clamp(seconds, -1, 65_535));
            }
        }
    }

    @Test
    void shouldRejectUnsupportedOptionsAndInvalidValues() throws Exception {
        try (var channel = provider.openSocketChannel()) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> channel.setOption(StandardSocketOptions.SO_BROADCAST, true))
                    .withMessage("'SO_BROADCAST' not supported");
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> channel.getOption(StandardSocketOptions.IP_MULTICAST_IF));
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1));
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> channel.setOption(StandardSocketOptions.IP_TOS, 256));
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> channel.setOption(StandardSocketOptions.TCP_NODELAY, null));
            assertThatExceptionOfType(NullPointerException.class)
                    .isThrownBy(() -> channel.getOption(null));
        }
    }

    @Test
    void shouldHaveTheOptionsOfTheJdk() throws Exception {
        var jdk = Implementation.JDK.provider();
        try (var channel = provider.openSocketChannel();
                var reference = jdk.openSocketChannel();
                var listener = provider.openServerSocketChannel();
                var referenceListener = jdk.openServerSocketChannel()) {
            assertThat(names(channel.supportedOptions()))
                    .isEqualTo(names(reference.supportedOptions()));
            assertThat(names(listener.supportedOptions()))
                    .isEqualTo(names(referenceListener.supportedOptions()));
        }
    }

    private static Set<String> names(Set<SocketOption<?>> options) {
        return options.stream()
                .map(SocketOption::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private InetSocketAddress unusedAddress() throws IOException {
        try (var listener = ChannelPair.listener(provider)) {
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            return new InetSocketAddress(ChannelPair.ADDRESS, port);
        }
    }
}
