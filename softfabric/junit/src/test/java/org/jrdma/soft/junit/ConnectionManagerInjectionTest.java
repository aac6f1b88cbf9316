package org.jrdma.soft.junit;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.cm.RdmaChannelOptions;
import org.jrdma.verbs.model.Access;
import org.junit.jupiter.api.Test;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Tests the injection of the objects that applications need to connect by address. */
class ConnectionManagerInjectionTest {

    private static final Duration TIMEOUT = ofSeconds(30);

    /** The time after which a lost packet is retransmitted. */
    private static final Duration ACKNOWLEDGE_TIMEOUT = Duration.ofMillis(8);

    private static final int MESSAGES = 100;

    @SoftFabricTest(devices = 2, loss = 0.05, seed = 1)
    void shouldConnectByAddressAndSendOverALossyNetwork(
            ConnectionManager connections,
            Device client,
            Device server,
            InetAddress clientAddress,
            InetAddress serverAddress)
            throws Exception {
        try (var clientDomain = client.newProtectionDomain();
                var serverDomain = server.newProtectionDomain();
                var clientMemory = clientDomain.newArena(Access.LOCAL_WRITE);
                var serverMemory = serverDomain.newArena(Access.LOCAL_WRITE);
                var clientCompletions = client.newCompletionDispatcher(16);
                var serverCompletions = server.newCompletionDispatcher(16);
                var listener = connections.listen(new InetSocketAddress(serverAddress, 0))) {
            var accepting =
                    listener.acceptAsync(
                            serverDomain,
                            ConnectionOptions.of(QueuePairOptions.reliable(serverCompletions)),
                            TIMEOUT);
            try (var clientConnection =
                            connections.connect(
                                    listener.localAddress(),
                                    clientDomain,
                                    ConnectionOptions.of(
                                                    QueuePairOptions.reliable(clientCompletions))
                                            .acknowledgeTimeout(ACKNOWLEDGE_TIMEOUT)
                                            .localAddress(new InetSocketAddress(clientAddress, 0)),
                                    TIMEOUT);
                    var serverConnection = accepting.get()) {
                var source = clientMemory.region(8);
                var target = serverMemory.region(8);
                for (var i = 1L; i <= MESSAGES; i++) {
                    var received = serverConnection.queuePair().receive(target.slice());
                    source.segment().set(ValueLayout.JAVA_LONG, 0, i);
                    clientConnection.queuePair().send(source.slice()).await(TIMEOUT);
                    received.await(TIMEOUT);
                    assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(i);
                }
            }
        }
    }

    @SoftFabricTest(loss = 0.05, seed = 1)
    void shouldSendTheMessagesOfAChannelOverALossyNetwork(
            ConnectionManager connections, Device device, InetAddress address) throws Exception {
        try (var domain = device.newProtectionDomain();
                var listener = connections.listen(new InetSocketAddress(address, 0))) {
            var server =
                    CompletableFuture.supplyAsync(() -> {
                        try (var channel =
                                listener.next(TIMEOUT)
                                        .acceptChannel(domain, channelOptions(), TIMEOUT)) {
                            return receive(channel);
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                    });
            try (var channel =
                    connections.connectChannel(
                            listener.localAddress(), domain, channelOptions(), TIMEOUT)) {
                var message = MemorySegment.ofArray(new byte[100]);
                for (var sent = 0; sent < MESSAGES; ) {
                    if (channel.trySend(message)) {
                        sent++;
                    } else {
                        assertThat(channel.await((_, _) -> {}, TIMEOUT))
                                .isNotEqualTo(RdmaChannel.WaitResult.TIMED_OUT);
                    }
                }
                assertThat(server.get()).isEqualTo(MESSAGES);
            }
        }
    }

    private static RdmaChannelOptions channelOptions() {
        return RdmaChannelOptions.DEFAULT.window(4).acknowledgeTimeout(ACKNOWLEDGE_TIMEOUT);
    }

    private static int receive(RdmaChannel channel) throws Exception {
        var count = new AtomicInteger();
        while (count.get() < MESSAGES) {
            assertThat(channel.await((_, _) -> count.incrementAndGet(), TIMEOUT))
                    .isNotEqualTo(RdmaChannel.WaitResult.TIMED_OUT);
        }
        return count.get();
    }

    static class LeavingAListenerOpen {
        @SoftFabricTest
        void listens(ConnectionManager connections, InetAddress address) throws Exception {
            connections.listen(new InetSocketAddress(address, 0));
        }
    }

    @Test
    void shouldFailATestThatLeavesAListenerOpen() {
        EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(LeavingAListenerOpen.class))
                .execute()
                .testEvents()
                .assertStatistics(statistics -> statistics.failed(1));
    }
}
