package org.jrdma.sockets;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.policy.Policy;
import org.jrdma.sockets.policy.TransportList;
import org.jrdma.sockets.transport.KernelTransport;
import org.jrdma.sockets.transport.RsocketTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the rsocket transport without RDMA devices. {@link RsocketTest} tests it with a device. */
@Timeout(30)
class RsocketFallbackTest {

    private static final String WHY_NOT = "this machine has no RDMA device";

    private final AtomicInteger attempts = new AtomicInteger();
    private final Transport absent =
            new RsocketTransport(() -> {
                attempts.incrementAndGet();
                throw new FabricException(WHY_NOT);
            });

    @Test
    void shouldReportWhyItIsUnusableAndCacheTheReason() {
        assertThat(absent.whyNot()).hasValue(WHY_NOT);
        assertThat(absent.whyNot()).hasValue(WHY_NOT);

        assertThat(attempts).hasValue(1);
    }

    @Test
    void shouldRejectTheSoftwareFabric() {
        assertThatThrownBy(() -> RsocketTransport.find("software"))
                .isInstanceOf(FabricException.class)
                .hasMessage(
                        "librdmacm supports only the RDMA devices of the kernel, not those of the software fabric that jrdma.fabric selects");
    }

    @Test
    void shouldBeSelectedByItsName() {
        assertThat(TransportList.parse("rsocket,tcp").preferred())
                .containsExactly(RsocketTransport.CONFIGURED, KernelTransport.TCP);
        assertThat(Policy.parse("policy", List.of("connect * * rsocket no-fallback")).rules())
                .first()
                .extracting(rule -> rule.transports().preferred())
                .isEqualTo(List.of(Transports.rsocket()));
    }

    @Test
    void shouldReportTheReasonsForAFallbackAtBothEnds() throws Exception {
        var preferred = List.of(absent, Transports.tcp());
        try (var listener = FabricSockets.listen(ChannelPair.ANY_PORT, preferred);
                var client = new FabricSelectorProvider(preferred).openSocketChannel()) {
            client.connect(listener.getLocalAddress());
            try (var server = listener.accept()) {
                client.write(TestBytes.of("abc"));
                assertThat(TestBytes.read(server, 3)).isEqualTo("abc");
                for (var end : List.of(client, server)) {
                    assertThat(OpenConnections.of(end).transport()).isEqualTo("tcp");
                    assertThat(OpenConnections.of(end).whyNotFaster())
                            .isEqualTo("rsocket: " + WHY_NOT);
                }
            }
        }
    }

    @Test
    void shouldTryTheKernelBypassesInOrder() throws Exception {
        var node = InProcessSoftwareSisciNode.anyOfItsOwn();
        var preferred = List.of(absent, node.transport(""), Transports.tcp());
        try (var listener = FabricSockets.listen(ChannelPair.ANY_PORT, preferred);
                var client = new FabricSelectorProvider(preferred).openSocketChannel()) {
            client.connect(listener.getLocalAddress());
            try (var server = listener.accept()) {
                client.write(TestBytes.of("abc"));
                assertThat(TestBytes.read(server, 3)).isEqualTo("abc");
                for (var end : List.of(client, server)) {
                    assertThat(OpenConnections.of(end).transport()).isEqualTo("sisci");
                    assertThat(OpenConnections.of(end).whyNotFaster())
                            .isEqualTo("rsocket: " + WHY_NOT);
                }
            }
        }
    }

    @Test
    void shouldFailToConnectIfNoOtherTransportIsAllowed() throws Exception {
        try (var listener = FabricSockets.listen(ChannelPair.ANY_PORT, List.of(Transports.tcp()))) {
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            assertThatThrownBy(() ->
                            FabricSockets.connect(
                                    "127.0.0.1", port, List.of(absent), ofSeconds(10)))
                    .hasMessage(
                            "127.0.0.1:%d cannot be reached. rsocket: %s".formatted(port, WHY_NOT));
        }
    }
}
