package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.cm.RdmaChannelOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how a local device and address are chosen on a machine with two devices. */
@Timeout(60)
class LocalDeviceSelectionTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final InetAddress FIRST = InetAddress.ofLiteral("127.0.83.1");
    private static final InetAddress SECOND = InetAddress.ofLiteral("127.0.83.2");

    private ConnectionManager connections;
    private Device first;
    private Device second;
    private ProtectionDomain onFirst;
    private ProtectionDomain onSecond;

    @BeforeEach
    void open() throws Exception {
        var fabric = SoftRoce.at(FIRST, SECOND);
        var verbs = Verbs.from(fabric);
        connections = ConnectionManager.from(fabric);
        first = verbs.open("soft0");
        second = verbs.open("soft1");
        onFirst = first.newProtectionDomain();
        onSecond = second.newProtectionDomain();
    }

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    /**
     * Starts a thread that accepts one channel and closes it. Returns a future with the address of
     * the peer.
     */
    private static CompletableFuture<InetSocketAddress> accept(
            Listener listener, ProtectionDomain domain) {
        var peer = new CompletableFuture<InetSocketAddress>();
        Thread.ofVirtual()
                .start(() -> {
                    try (var channel =
                            listener.next(TIMEOUT)
                                    .acceptChannel(domain, RdmaChannelOptions.DEFAULT, TIMEOUT)) {
                        peer.complete(channel.connection().peerAddress());
                    } catch (Throwable e) {
                        peer.completeExceptionally(e);
                    }
                });
        return peer;
    }

    private RdmaChannel connect(
            InetSocketAddress peer, ProtectionDomain domain, RdmaChannelOptions options)
            throws IOException {
        return connections.connectChannel(peer, domain, options, TIMEOUT);
    }

    @Test
    void shouldReportTheAddressesOfAListenerOnTheWildcardAddress() throws Exception {
        try (var listener = connections.listen(new InetSocketAddress("0.0.0.0", 0))) {
            var port = listener.localAddress().getPort();

            assertThat(port).isPositive();
            assertThat(listener.localAddress()).isEqualTo(new InetSocketAddress(FIRST, port));
            assertThat(listener.localAddresses())
                    .containsExactly(
                            new InetSocketAddress(FIRST, port),
                            new InetSocketAddress(SECOND, port));
            var accepted = accept(listener, onSecond);
            try (var channel =
                    connect(
                            listener.localAddresses().get(1),
                            onFirst,
                            RdmaChannelOptions.DEFAULT)) {
                assertThat(channel.connection().peerAddress().getAddress()).isEqualTo(SECOND);
                accepted.get(20, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void shouldListenOnTheAddressOfADevice() throws Exception {
        try (var listener = connections.listen(second, 0)) {
            assertThat(listener.localAddress().getAddress()).isEqualTo(SECOND);
            assertThat(listener.localAddresses()).containsExactly(listener.localAddress());
        }
    }

    @Test
    void shouldConnectFromTheDeviceOfTheProtectionDomain() throws Exception {
        try (var listener = connections.listen(first, 0)) {
            for (var domain : new ProtectionDomain[] {onFirst, onSecond}) {
                var accepted = accept(listener, onFirst);
                try (var channel =
                        connect(listener.localAddress(), domain, RdmaChannelOptions.DEFAULT)) {
                    var local = domain == onFirst ? FIRST : SECOND;
                    assertThat(channel.connection().localAddress().getAddress()).isEqualTo(local);
                    assertThat(accepted.get(20, TimeUnit.SECONDS).getAddress()).isEqualTo(local);
                }
            }
        }
    }

    @Test
    void shouldConnectFromTheAddressOfTheOptions() throws Exception {
        try (var listener = connections.listen(first, 0)) {
            var accepted = accept(listener, onFirst);
            var options = RdmaChannelOptions.DEFAULT.localAddress(new InetSocketAddress(SECOND, 0));
            try (var channel = connect(listener.localAddress(), onSecond, options)) {
                assertThat(channel.connection().localAddress().getAddress()).isEqualTo(SECOND);
                assertThat(accepted.get(20, TimeUnit.SECONDS).getAddress()).isEqualTo(SECOND);
            }
            assertThatThrownBy(() -> connect(listener.localAddress(), onFirst, options))
                    .hasMessageContaining("uses device soft1")
                    .hasMessageContaining("The local RDMA devices are: soft0, soft1.");
        }
    }

    @Test
    void shouldReportTheAddressesAndDevicesIfNoProgramListens() throws Exception {
        int port; // The number of a port without a listener.
        try (var listener = connections.listen(first, 0)) {
            port = listener.localAddress().getPort();
        }
        assertThatThrownBy(() ->
                        connect(
                                new InetSocketAddress(FIRST, port),
                                onSecond,
                                RdmaChannelOptions.DEFAULT))
                .isInstanceOf(CmException.class)
                .hasMessageContaining(SECOND.getHostAddress())
                .hasMessageContaining(FIRST.getHostAddress() + ":" + port)
                .hasMessageContaining("through soft1")
                .hasMessageContaining("Listener.localAddress()")
                .hasMessageContaining("The local RDMA devices are: soft0, soft1.");
    }
}
