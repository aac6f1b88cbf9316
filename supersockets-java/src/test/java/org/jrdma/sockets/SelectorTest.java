package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.BindException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
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
class SelectorTest {

    @Parameter private Implementation implementation;

    private SelectorProvider provider;
    private Selector selector;
    private ChannelPair pair;

    @BeforeEach
    void open() throws IOException {
        provider = implementation.provider();
        selector = provider.openSelector();
        pair = ChannelPair.open(implementation);
        pair.client().configureBlocking(false);
    }

    @AfterEach
    void close() throws IOException {
        selector.close();
        pair.close();
    }

    @Test
    void shouldSelectOnlyReadyChannels() throws Exception {
        var key = pair.client().register(selector, SelectionKey.OP_READ, "attached");
        assertThat(selector.selectNow()).isZero();
        assertThat(selector.selectedKeys()).isEmpty();

        pair.server().write(TestBytes.of("a"));

        assertThat(selector.select()).isEqualTo(1);
        assertThat(selector.selectedKeys()).containsExactly(key);
        assertThat(selector.keys()).containsExactly(key);
        assertThat(key.isReadable()).isTrue();
        assertThat(key.isWritable()).isFalse();
        assertThat(key.attachment()).isEqualTo("attached");
        assertThat(key.channel()).isSameAs(pair.client());
        assertThat(pair.client().keyFor(selector)).isSameAs(key);
        assertThat(pair.client().isRegistered()).isTrue();
    }

    @Test
    void shouldReportASelectedKeyAgainOnlyIfItIsRemovedOrReadyForMore() throws Exception {
        var key = pair.client().register(selector, SelectionKey.OP_READ);
        pair.server().write(TestBytes.of("a"));

        assertThat(selector.select()).isEqualTo(1);
        assertThat(selector.selectNow()).isZero();
        key.interestOpsOr(SelectionKey.OP_WRITE);
        assertThat(selector.selectNow()).isEqualTo(1);
        assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        assertThat(selector.selectedKeys().remove(key)).isTrue();
        TestBytes.read(pair.client(), 1);
        assertThat(selector.selectNow()).isEqualTo(1);
        assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_WRITE);
    }

    @Test
    void shouldReportBytesThatArriveAfterAReadWithoutASelection() throws Exception {
        pair.client().register(selector, SelectionKey.OP_READ);
        for (var i = 0; i < 100; i++) {
            assertThat(selector.selectNow()).isZero();
            pair.server().write(TestBytes.of("a"));
            TestBytes.read(pair.client(), 1);
        }
        assertThat(selector.selectNow()).isZero();

        pair.server().write(TestBytes.of("b"));

        assertThat(selector.select()).isEqualTo(1);
    }

    @Test
    void shouldRejectAdditionsToTheSelectedKeys() throws Exception {
        var key = pair.client().register(selector, SelectionKey.OP_WRITE);
        selector.select();

        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> selector.selectedKeys().add(key));
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> selector.keys().remove(key));
        var iterator = selector.selectedKeys().iterator();
        iterator.next();
        iterator.remove();
        assertThat(selector.selectedKeys()).isEmpty();
    }

    @Test
    void shouldCallAnActionForEachReadyKey() throws Exception {
        var key = pair.client().register(selector, SelectionKey.OP_WRITE);
        var selected = new ArrayList<SelectionKey>();

        assertThat(selector.select(selected::add)).isEqualTo(1);
        assertThat(selector.selectNow(selected::add)).isEqualTo(1);
        assertThat(selector.select(selected::add, 1_000)).isEqualTo(1);

        assertThat(selected).containsExactly(key, key, key);
        assertThat(selector.selectedKeys()).isEmpty();
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() ->
                        selector.select(_ -> {
                            try {
                                selector.selectNow();
                            } catch (IOException e) {
                                throw new AssertionError(e);
                            }
                        }));
        assertThatExceptionOfType(NullPointerException.class)
                .isThrownBy(() -> selector.select(null));
    }

    @ParameterizedTest
    @EnumSource
    void shouldWakeUpAThreadInASelection(Kind kind) throws Exception {
        var selecting = Tasks.start(kind, () -> selector.select()).awaitWaiting();

        assertThat(selector.wakeup()).isSameAs(selector);

        assertThat(selecting.get()).isZero();
    }

    @Test
    void shouldNotWaitInTheFirstSelectionAfterAWakeUp() throws Exception {
        selector.wakeup();
        selector.wakeup();

        assertThat(selector.select()).isZero();
        var start = System.nanoTime();
        assertThat(selector.select(100)).isZero();
        assertThat(System.nanoTime() - start).isGreaterThan(80_000_000);
    }

    @Test
    void shouldConsumeAWakeUpInASelectionThatDoesNotWait() throws Exception {
        selector.wakeup();
        selector.selectNow();

        var start = System.nanoTime();
        selector.select(100);
        assertThat(System.nanoTime() - start).isGreaterThan(80_000_000);
    }

    @ParameterizedTest
    @EnumSource
    void shouldWaitUntilTheTimeout(Kind kind) throws Exception {
        var nanos =
                Tasks.start(
                        kind,
                        () -> {
                            var start = System.nanoTime();
                            assertThat(selector.select(150)).isZero();
                            return System.nanoTime() - start;
                        });

        assertThat(nanos.get()).isBetween(149_000_000L, 5_000_000_000L);
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> selector.select(-1));
    }

    @ParameterizedTest
    @EnumSource
    void shouldReturnWhenTheThreadIsInterrupted(Kind kind) throws Exception {
        var selecting =
                Tasks.start(
                                kind,
                                () -> {
                                    selector.select();
                                    return Thread.interrupted();
                                })
                        .awaitWaiting();

        selecting.thread().interrupt();

        assertThat(selecting.get()).isTrue();
        assertThat(selector.isOpen()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void shouldReportEventsThatOccurDuringASelection(Kind kind) throws Exception {
        pair.client().register(selector, SelectionKey.OP_READ);
        var selecting = Tasks.start(kind, () -> selector.select()).awaitWaiting();

        pair.server().write(TestBytes.of("a"));

        assertThat(selecting.get()).isEqualTo(1);
    }

    @Test
    void shouldApplyAChangedInterestSetInTheNextSelection() throws Exception {
        var key = pair.client().register(selector, SelectionKey.OP_READ);
        var selecting = Tasks.start(() -> selector.select()).awaitWaiting();

        key.interestOps(SelectionKey.OP_WRITE);
        selecting.awaitWaiting();
        selector.wakeup();

        assertThat(selecting.get()).isZero();
        assertThat(selector.select()).isEqualTo(1);
        assertThat(key.isWritable()).isTrue();
    }

    @Test
    void shouldRegisterWhileAnotherThreadSelects() throws Exception {
        var selecting = Tasks.start(() -> selector.select()).awaitWaiting();

        pair.client().register(selector, SelectionKey.OP_WRITE);
        selector.wakeup();

        selecting.get();
        selector.select();
        assertThat(selector.selectedKeys()).hasSize(1);
    }

    @Test
    void shouldNotSelectAChannelWithAnEmptyInterestSet() throws Exception {
        pair.client().register(selector, 0);
        pair.server().close();

        assertThat(selector.select(100)).isZero();
    }

    @Test
    void shouldReportTheEndOfAStreamAsReadable() throws Exception {
        var key = pair.client().register(selector, SelectionKey.OP_READ);
        pair.server().close();

        assertThat(selector.select()).isEqualTo(1);
        assertThat(key.isReadable()).isTrue();
        assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }

    @Test
    void shouldCancelAKeyInTheNextSelectionAndRegisterAgain() throws Exception {
        var key = pair.client().register(selector, SelectionKey.OP_WRITE);
        selector.select();
        key.cancel();

        assertThat(key.isValid()).isFalse();
        assertThatExceptionOfType(CancelledKeyException.class).isThrownBy(key::interestOps);
        assertThatExceptionOfType(CancelledKeyException.class).isThrownBy(key::readyOps);
        assertThatExceptionOfType(CancelledKeyException.class)
                .isThrownBy(() -> key.interestOps(SelectionKey.OP_READ));
        assertThatExceptionOfType(CancelledKeyException.class)
                .isThrownBy(() -> pair.client().register(selector, SelectionKey.OP_READ));
        assertThat(selector.keys()).containsExactly(key);

        selector.selectNow();

        assertThat(selector.keys()).isEmpty();
        assertThat(selector.selectedKeys()).isEmpty();
        assertThat(pair.client().isRegistered()).isFalse();
        var second = pair.client().register(selector, SelectionKey.OP_WRITE);
        assertThat(second).isNotSameAs(key);
        assertThat(selector.select()).isEqualTo(1);
        assertThat(selector.selectedKeys()).containsExactly(second);
    }

    @Test
    void shouldChangeTheKeyOfAChannelThatIsRegisteredTwice() throws Exception {
        var key = pair.client().register(selector, SelectionKey.OP_READ, 1);

        assertThat(pair.client().register(selector, SelectionKey.OP_WRITE, 2)).isSameAs(key);

        assertThat(key.interestOps()).isEqualTo(SelectionKey.OP_WRITE);
        assertThat(key.attachment()).isEqualTo(2);
        assertThat(key.interestOpsAnd(0)).isEqualTo(SelectionKey.OP_WRITE);
        assertThat(key.interestOps()).isZero();
    }

    @Test
    void shouldRejectOperationsThatAChannelDoesNotSupport() throws Exception {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> pair.client().register(selector, SelectionKey.OP_ACCEPT));
        var key = pair.client().register(selector, 0);
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> key.interestOps(SelectionKey.OP_ACCEPT));
        assertThatExceptionOfType(IllegalBlockingModeException.class)
                .isThrownBy(() -> pair.server().register(selector, SelectionKey.OP_READ));
        assertThatExceptionOfType(IllegalBlockingModeException.class)
                .isThrownBy(() -> pair.client().configureBlocking(true));
    }

    @Test
    void shouldRejectChannelsOfOtherProviders() throws Exception {
        var other =
                implementation == Implementation.JDK
                        ? Implementation.TCP.provider()
                        : Implementation.JDK.provider();
        try (var foreign = other.openSocketChannel()) {
            foreign.configureBlocking(false);
            assertThatExceptionOfType(IllegalSelectorException.class)
                    .isThrownBy(() -> foreign.register(selector, SelectionKey.OP_CONNECT));
        }
    }

    @Test
    void shouldDropTheKeyOfAClosedChannel() throws Exception {
        var key = pair.client().register(selector, SelectionKey.OP_READ);
        pair.client().close();

        assertThat(key.isValid()).isFalse();
        assertThat(selector.selectNow()).isZero();
        assertThat(selector.keys()).isEmpty();
    }

    @Test
    void shouldContinueASelectionWhenAChannelIsClosed() throws Exception {
        pair.client().register(selector, SelectionKey.OP_READ);
        var selecting = Tasks.start(() -> selector.select()).awaitWaiting();

        pair.client().close();
        selector.wakeup();

        assertThat(selecting.get()).isZero();
        assertThat(selector.keys()).isEmpty();
    }

    @Test
    void shouldSelectANewChannelThatReusesADescriptorNumber() throws Exception {
        for (var i = 0; i < 20; i++) {
            try (var next = ChannelPair.open(implementation)) {
                next.client().configureBlocking(false);
                var key = next.client().register(selector, SelectionKey.OP_READ);
                next.server().write(TestBytes.of("a"));
                assertThat(selector.select()).isEqualTo(1);
                assertThat(selector.selectedKeys()).containsExactly(key);
                selector.selectedKeys().clear();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndASelectionWhenItIsClosed(Kind kind) throws Exception {
        var key = pair.client().register(selector, SelectionKey.OP_READ);
        var selecting = Tasks.start(kind, () -> selector.select()).awaitWaiting();

        selector.close();

        assertThat(selecting.get()).isZero();
        assertThat(key.isValid()).isFalse();
        assertThat(pair.client().isRegistered()).isFalse();
        assertThatExceptionOfType(ClosedSelectorException.class).isThrownBy(selector::keys);
        assertThatExceptionOfType(ClosedSelectorException.class).isThrownBy(selector::selectedKeys);
        assertThatExceptionOfType(ClosedSelectorException.class).isThrownBy(selector::select);
        assertThatExceptionOfType(ClosedSelectorException.class)
                .isThrownBy(() -> pair.client().register(selector, SelectionKey.OP_READ));
        selector.wakeup();
        selector.close();
    }

    @Test
    void shouldSelectAConnectingChannel() throws Exception {
        try (var listener = ChannelPair.listener(provider);
                var client = provider.openSocketChannel()) {
            listener.configureBlocking(false);
            var key = listener.register(selector, SelectionKey.OP_ACCEPT);
            assertThat(selector.selectNow()).isZero();

            client.connect(listener.getLocalAddress());

            assertThat(selector.select()).isEqualTo(1);
            assertThat(key.isAcceptable()).isTrue();
            listener.accept().close();
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isZero();
        }
    }

    @Test
    void shouldFreeTheAddressOfAClosedListener() throws Exception {
        var listener = ChannelPair.listener(provider);
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
        var address = listener.getLocalAddress();

        listener.close();

        try (var next = provider.openServerSocketChannel()) {
            if (!implementation.differsIn(
                    Difference.CLOSED_LISTENER_RELEASES_ITS_PORT_IMMEDIATELY)) {
                assertThatExceptionOfType(BindException.class).isThrownBy(() -> next.bind(address));
                selector.selectNow();
            }
            next.bind(address);
        }
    }

    @Test
    void shouldEchoOverManyChannelsOnOneThread() throws Exception {
        var pairs = new ArrayList<ChannelPair>();
        for (var i = 0; i < 100; i++) {
            var channelPair = ChannelPair.open(implementation);
            channelPair.server().configureBlocking(false).register(selector, SelectionKey.OP_READ);
            pairs.add(channelPair);
        }
        var echo = Tasks.start(() -> echo(pairs.size()));
        for (var round = 0; round < 5; round++) {
            for (var i = 0; i < pairs.size(); i++) {
                pairs.get(i).client().write(TestBytes.of("%03d".formatted(i)));
            }
            for (var i = 0; i < pairs.size(); i++) {
                assertThat(TestBytes.read(pairs.get(i).client(), 3)).isEqualTo("%03d".formatted(i));
            }
        }
        for (var channelPair : pairs) {
            channelPair.client().close();
        }
        assertThat(echo.get()).isEqualTo(List.of());
    }

    private List<SelectionKey> echo(int channels) throws IOException {
        var buffer = ByteBuffer.allocateDirect(64);
        while (channels > 0) {
            selector.select();
            for (var keys = selector.selectedKeys().iterator(); keys.hasNext(); keys.remove()) {
                var channel = (SocketChannel) keys.next().channel();
                if (channel.read(buffer.clear()) < 0) {
                    channel.close();
                    channels--;
                } else {
                    channel.write(buffer.flip());
                }
            }
        }
        selector.selectNow();
        return List.copyOf(selector.keys());
    }
}
