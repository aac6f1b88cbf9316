package org.jrdma.sockets;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
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

@ParameterizedClass
@MethodSource("org.jrdma.sockets.Implementation#offered")
@Timeout(30)
class DatagramChannelTest {

    @Parameter private Implementation implementation;

    private SelectorProvider provider;
    private DatagramChannel here;
    private DatagramChannel there;

    @BeforeEach
    void open() throws IOException {
        provider = implementation.provider();
        here = provider.openDatagramChannel().bind(ChannelPair.ANY_PORT);
        there = provider.openDatagramChannel().bind(ChannelPair.ANY_PORT);
    }

    @AfterEach
    void close() throws IOException {
        here.close();
        there.close();
    }

    @Test
    void shouldSendAndReceiveBetweenAddresses() throws Exception {
        var source = ByteBuffer.allocateDirect(3).put("abc".getBytes(US_ASCII)).flip();
        assertThat(here.send(source, there.getLocalAddress())).isEqualTo(3);
        assertThat(source.hasRemaining()).isFalse();
        here.send(TestBytes.of(""), there.getLocalAddress());

        var buffer = ByteBuffer.allocate(10);
        assertThat(there.receive(buffer)).isEqualTo(here.getLocalAddress());
        assertThat(US_ASCII.decode(buffer.flip()).toString()).isEqualTo("abc");
        assertThat(there.receive(buffer.clear())).isEqualTo(here.getLocalAddress());
        assertThat(buffer.position()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void shouldDiscardTheBytesThatExceedTheBuffer(BufferKind kind) throws Exception {
        here.send(TestBytes.of("abcdef"), there.getLocalAddress());
        here.send(TestBytes.of("xyz"), there.getLocalAddress());

        var buffer = kind.allocate(2);
        assertThat(there.receive(buffer)).isNotNull();
        assertThat(US_ASCII.decode(buffer.flip()).toString()).isEqualTo("ab");
        assertThat(there.receive(buffer.clear())).isNotNull();
        assertThat(US_ASCII.decode(buffer.flip()).toString()).isEqualTo("xy");
    }

    enum BufferKind {
        HEAP,
        DIRECT;

        ByteBuffer allocate(int bytes) {
            return this == HEAP ? ByteBuffer.allocate(bytes) : ByteBuffer.allocateDirect(bytes);
        }
    }

    @Test
    void shouldBindTheChannelWhenItIsFirstUsed() throws Exception {
        try (var channel = provider.openDatagramChannel()) {
            assertThat(channel.getLocalAddress()).isNull();

            channel.send(TestBytes.of("a"), there.getLocalAddress());

            var local = (InetSocketAddress) channel.getLocalAddress();
            assertThat(local.getPort()).isPositive();
            assertThat(local.getAddress().isAnyLocalAddress()).isTrue();
            assertThatExceptionOfType(AlreadyBoundException.class)
                    .isThrownBy(() -> channel.bind(null));
        }
    }

    @Test
    void shouldReadAndWriteOnlyWithItsPeer() throws Exception {
        assertThatExceptionOfType(NotYetConnectedException.class)
                .isThrownBy(() -> here.read(ByteBuffer.allocate(1)));
        assertThatExceptionOfType(NotYetConnectedException.class)
                .isThrownBy(() -> here.write(TestBytes.of("a")));
        there.send(TestBytes.of("before"), here.getLocalAddress());
        assertThat(here.connect(there.getLocalAddress())).isSameAs(here);
        try (var stranger = provider.openDatagramChannel()) {
            stranger.send(TestBytes.of("stranger"), here.getLocalAddress());
        }
        there.send(TestBytes.of("friend"), here.getLocalAddress());

        assertThat(here.isConnected()).isTrue();
        assertThat(here.getRemoteAddress()).isEqualTo(there.getLocalAddress());
        var first = ByteBuffer.allocate(4);
        var second = ByteBuffer.allocateDirect(10);
        assertThat(here.read(new ByteBuffer[] {first, second})).isEqualTo(6);
        assertThat(second.position()).isEqualTo(2);
        assertThat(here.write(new ByteBuffer[] {TestBytes.of("ab"), TestBytes.of("cd")}))
                .isEqualTo(4);
        var buffer = ByteBuffer.allocate(10);
        there.receive(buffer);
        assertThat(US_ASCII.decode(buffer.flip()).toString()).isEqualTo("abcd");
        assertThatExceptionOfType(AlreadyConnectedException.class)
                .isThrownBy(() -> here.connect(there.getLocalAddress()));
        assertThatExceptionOfType(AlreadyConnectedException.class)
                .isThrownBy(() ->
                        here.send(
                                TestBytes.of("a"),
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), 9)));
        assertThat(here.send(TestBytes.of("a"), there.getLocalAddress())).isEqualTo(1);
    }

    @Test
    void shouldReceiveFromAnyPeerAfterADisconnect() throws Exception {
        var before = here.getLocalAddress();
        here.connect(there.getLocalAddress());
        assertThat(here.disconnect()).isSameAs(here);
        assertThat(here.isConnected()).isFalse();
        assertThat(here.getRemoteAddress()).isNull();
        assertThat(here.getLocalAddress()).isEqualTo(before);
        here.disconnect();

        try (var stranger = provider.openDatagramChannel()) {
            stranger.send(TestBytes.of("stranger"), before);
            assertThat(here.receive(ByteBuffer.allocate(10))).isNotNull();
        }
    }

    @Test
    void shouldReportAnUnreachablePort() throws Exception {
        var closedAddress = there.getLocalAddress();
        there.close();
        here.connect(closedAddress);
        here.write(TestBytes.of("a"));

        assertThatExceptionOfType(PortUnreachableException.class)
                .isThrownBy(() -> here.read(ByteBuffer.allocate(1)));
        assertThat(here.isOpen()).isTrue();
    }

    @Test
    void shouldRejectADatagramThatIsTooLong() throws Exception {
        for (var tooLong :
                new ByteBuffer[] {
                    ByteBuffer.allocate(70_000),
                    ByteBuffer.allocateDirect(70_000),
                    ByteBuffer.allocate(500_000)
                }) {
            assertThatThrownBy(() -> here.send(tooLong, there.getLocalAddress()))
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("Message too long");
            assertThat(tooLong.position()).isZero();
        }
        here.connect(there.getLocalAddress());
        assertThatThrownBy(() -> here.write(ByteBuffer.allocate(70_000)))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("Message too long");
        assertThat(here.write(ByteBuffer.allocate(65_507))).isEqualTo(65_507);
    }

    @Test
    void shouldReturnNullFromANonBlockingReceiveWithoutADatagram() throws Exception {
        here.configureBlocking(false);
        assertThat(here.receive(ByteBuffer.allocate(1))).isNull();
        here.connect(there.getLocalAddress());
        assertThat(here.read(ByteBuffer.allocate(1))).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndAReceiveWhenTheChannelIsClosed(Kind kind) throws Exception {
        var receiver = Tasks.start(kind, () -> here.receive(ByteBuffer.allocate(1)));
        receiver.awaitWaiting();

        here.close();

        assertThat(receiver.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
        assertThatThrownBy(() -> here.receive(ByteBuffer.allocate(1)))
                .isExactlyInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> here.send(TestBytes.of("a"), ChannelPair.ANY_PORT))
                .isExactlyInstanceOf(ClosedChannelException.class);
    }

    @ParameterizedTest
    @EnumSource
    void shouldCloseTheChannelWhenAReceiveIsInterrupted(Kind kind) throws Exception {
        var receiver = Tasks.start(kind, () -> here.receive(ByteBuffer.allocate(1)));
        receiver.awaitWaiting();

        receiver.thread().interrupt();

        assertThat(receiver.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
        assertThat(here.isOpen()).isFalse();
    }

    @Test
    void shouldBeSelectedWhenItIsReady() throws Exception {
        here.configureBlocking(false);
        try (var selector = provider.openSelector()) {
            var key = here.register(selector, SelectionKey.OP_READ);
            assertThat(selector.selectNow()).isZero();

            there.send(TestBytes.of("a"), here.getLocalAddress());

            assertThat(selector.select()).isEqualTo(1);
            assertThat(key.isReadable()).isTrue();
            assertThat(here.validOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        }
    }

    @Test
    void shouldKeepOptions() throws Exception {
        var loopback = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        for (var family :
                new StandardProtocolFamily[] {
                    StandardProtocolFamily.INET, StandardProtocolFamily.INET6
                }) {
            try (var channel = provider.openDatagramChannel(family)) {
                assertThat(channel.getOption(StandardSocketOptions.IP_MULTICAST_IF)).isNull();
                assertThat(channel.getOption(StandardSocketOptions.IP_MULTICAST_TTL)).isEqualTo(1);
                assertThat(channel.getOption(StandardSocketOptions.IP_MULTICAST_LOOP)).isTrue();
                channel.setOption(StandardSocketOptions.SO_BROADCAST, true)
                        .setOption(StandardSocketOptions.IP_MULTICAST_TTL, 5)
                        .setOption(StandardSocketOptions.IP_MULTICAST_LOOP, false)
                        .setOption(StandardSocketOptions.IP_MULTICAST_IF, loopback)
                        .setOption(StandardSocketOptions.SO_RCVBUF, 16_384)
                        .setOption(StandardSocketOptions.IP_TOS, 4);
                assertThat(channel.getOption(StandardSocketOptions.SO_BROADCAST)).isTrue();
                assertThat(channel.getOption(StandardSocketOptions.IP_MULTICAST_TTL)).isEqualTo(5);
                assertThat(channel.getOption(StandardSocketOptions.IP_MULTICAST_LOOP)).isFalse();
                assertThat(channel.getOption(StandardSocketOptions.IP_MULTICAST_IF))
                        .isEqualTo(loopback);
                assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF)).isEqualTo(16_384);
                assertThat(channel.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(4);
                assertThatExceptionOfType(IllegalArgumentException.class)
                        .isThrownBy(() ->
                                channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 256));
            }
        }
    }

    @Test
    void shouldHaveTheOptionsOfTheJdk() throws Exception {
        try (var reference = Implementation.JDK.provider().openDatagramChannel()) {
            assertThat(names(here.supportedOptions()))
                    .isEqualTo(names(reference.supportedOptions()));
        }
    }

    private static Set<String> names(Set<SocketOption<?>> options) {
        return options.stream()
                .map(SocketOption::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @ParameterizedTest
    @EnumSource(names = {"INET", "INET6"})
    void shouldReceiveFromAMulticastGroupOnlyWhileItIsAMember(StandardProtocolFamily family)
            throws Exception {
        var loopback = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        // An IPv4 group can be joined by channels of both families.
        var group = InetAddress.ofLiteral("239.1.2.3");
        try (var member = provider.openDatagramChannel(family).bind(null);
                var sender = provider.openDatagramChannel(StandardProtocolFamily.INET)) {
            member.configureBlocking(false);
            sender.setOption(StandardSocketOptions.IP_MULTICAST_IF, loopback);
            var port = ((InetSocketAddress) member.getLocalAddress()).getPort();
            var target = new InetSocketAddress(group, port);

            var key = member.join(group, loopback);
            assertThat(key.isValid()).isTrue();
            assertThat(key.group()).isEqualTo(group);
            assertThat(key.networkInterface()).isEqualTo(loopback);
            assertThat(key.sourceAddress()).isNull();
            assertThat(key.channel()).isSameAs(member);
            assertThat(member.join(group, loopback)).isEqualTo(key);
            sender.send(TestBytes.of("one"), target);
            assertThat(receiveWithin(member, 2_000)).isEqualTo("one");

            key.drop();
            key.drop();
            assertThat(key.isValid()).isFalse();
            sender.send(TestBytes.of("two"), target);
            assertThat(receiveWithin(member, 100)).isNull();
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> key.block(InetAddress.getLoopbackAddress()));
        }
    }

    @Test
    void shouldNotReceiveFromABlockedSource() throws Exception {
        var loopback = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        var group = InetAddress.ofLiteral("239.1.2.4");
        var source = InetAddress.getLoopbackAddress();
        var member = provider.openDatagramChannel(StandardProtocolFamily.INET).bind(null);
        try (var sender =
                provider.openDatagramChannel(StandardProtocolFamily.INET)
                        .bind(new InetSocketAddress(source, 0))) {
            member.configureBlocking(false);
            sender.setOption(StandardSocketOptions.IP_MULTICAST_IF, loopback);
            var port = ((InetSocketAddress) member.getLocalAddress()).getPort();
            var target = new InetSocketAddress(group, port);
            var key = member.join(group, loopback);

            assertThat(key.block(source)).isEqualTo(key);
            sender.send(TestBytes.of("one"), target);
            assertThat(receiveWithin(member, 100)).isNull();
            key.unblock(source);
            sender.send(TestBytes.of("two"), target);
            assertThat(receiveWithin(member, 2_000)).isEqualTo("two");
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> key.unblock(source));

            key.drop();
            var sourceKey = member.join(group, loopback, source);
            assertThat(sourceKey.sourceAddress()).isEqualTo(source);
            sender.send(TestBytes.of("three"), target);
            assertThat(receiveWithin(member, 2_000)).isEqualTo("three");
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> sourceKey.block(source));
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> member.join(group, loopback));
            member.close();
            assertThat(sourceKey.isValid()).isFalse();
        } finally {
            member.close();
        }
    }

    @Test
    void shouldRejectInvalidMulticastGroups() throws Exception {
        var loopback = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> here.join(InetAddress.getLoopbackAddress(), loopback));
        assertThatExceptionOfType(NullPointerException.class)
                .isThrownBy(() -> here.join(InetAddress.ofLiteral("239.1.2.3"), null));
    }

    private static String receiveWithin(DatagramChannel channel, long milliseconds)
            throws Exception {
        var buffer = ByteBuffer.allocate(100);
        for (var waited = 0; waited < milliseconds; waited += 10) {
            if (channel.receive(buffer) != null) {
                return US_ASCII.decode(buffer.flip()).toString();
            }
            Thread.sleep(10);
        }
        return null;
    }

    @Test
    void shouldSendAndReceivePacketsByItsSocket() throws Exception {
        var sender = here.socket();
        var receiver = there.socket();
        assertThat(sender.getChannel()).isSameAs(here);
        assertThat(sender.isBound()).isTrue();
        assertThat(sender.isConnected()).isFalse();
        assertThat(sender.getPort()).isEqualTo(-1);
        assertThat(sender.getLocalSocketAddress()).isEqualTo(here.getLocalAddress());
        var packet = new DatagramPacket(new byte[20], 2, 10);
        for (var text : new String[] {"a", "bcdefg", "hi"}) {
            var bytes = text.getBytes(US_ASCII);
            sender.send(new DatagramPacket(bytes, bytes.length, there.getLocalAddress()));

            receiver.receive(packet);

            assertThat(new String(packet.getData(), 2, packet.getLength(), US_ASCII))
                    .isEqualTo(text);
            assertThat(packet.getSocketAddress()).isEqualTo(here.getLocalAddress());
        }
        receiver.setSoTimeout(50);
        assertThatThrownBy(() -> receiver.receive(packet))
                .isExactlyInstanceOf(SocketTimeoutException.class)
                .hasMessage("Receive timed out");
        there.configureBlocking(false);
        assertThatExceptionOfType(IllegalBlockingModeException.class)
                .isThrownBy(() -> receiver.receive(packet));
    }

    @Test
    void shouldConnectItsSocketRepeatedly() throws Exception {
        var socket = here.socket();
        socket.connect(there.getLocalAddress());
        assertThat(socket.getRemoteSocketAddress()).isEqualTo(there.getLocalAddress());
        var packet = new DatagramPacket(new byte[1], 1);
        socket.send(packet);
        assertThat(packet.getSocketAddress()).isEqualTo(there.getLocalAddress());
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() ->
                        socket.send(new DatagramPacket(new byte[1], 1, here.getLocalAddress())));
        socket.disconnect();
        assertThat(socket.isConnected()).isFalse();
        socket.close();
        assertThat(socket.isClosed()).isTrue();
        assertThatThrownBy(() -> socket.setBroadcast(true))
                .isExactlyInstanceOf(SocketException.class)
                .hasMessage("Socket is closed");
    }
}
