package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.ffi.AddressText;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.jrdma.sockets.policy.TransportList;
import org.jrdma.sockets.transport.KernelTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30)
class TransportSelectionTest {

    private static final Path MISSING = Path.of("/nowhere/family");

    @Test
    void shouldReportWhyItIsUnusable() {
        assertThat(Transports.tcp().whyNot()).isEmpty();
        assertThat(Transports.supersockets(Implementation.familyFile("2")).whyNot()).isEmpty();
        assertThat(Transports.supersockets(MISSING).whyNot())
                .hasValue("driver not loaded: there is no /nowhere/family");
    }

    @Test
    void shouldRejectAFileWithoutANumber() {
        var file = Implementation.familyFile("ssocks");

        assertThat(Transports.supersockets(file).whyNot())
                .hasValue(file + " does not contain a number");
    }

    @Test
    void shouldReportThatTheKernelDoesNotKnowTheFamily() {
        assertThat(Transports.supersockets(Implementation.familyFile("99")).whyNot())
                .hasValue(
                        "address family 99: EAFNOSUPPORT (97): the driver that publishes this family is not loaded");
    }

    @Test
    void shouldUseTheFirstUsableTransportAndKeepTheReasons() throws Exception {
        var transports =
                TransportList.of(List.of(Transports.supersockets(MISSING), Transports.tcp()));

        var opened = transports.open(InternetFamily.IPV4);

        SocketCalls.close(opened.descriptor());
        assertThat(opened.transport()).isSameAs(Transports.tcp());
        assertThat(opened.unused())
                .hasToString("[supersockets: driver not loaded: there is no /nowhere/family]");
    }

    @Test
    void shouldFailWithAllReasonsIfNoTransportIsUsable() {
        var provider = new FabricSelectorProvider(List.of(Transports.supersockets(MISSING)));

        for (var i = 0; i < 2; i++) { // The second call uses the cached reason.
            assertThatThrownBy(provider::openSocketChannel)
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage(
                            "No transport can be used: supersockets: driver not loaded: there is no /nowhere/family");
        }
        assertThatThrownBy(() ->
                        new FabricSelectorProvider(
                                        List.of(
                                                Transports.supersockets(
                                                        Implementation.familyFile("2"))))
                                .openSocketChannel(StandardProtocolFamily.INET6))
                .hasMessage("No transport can be used: supersockets: supports only IPv4");
    }

    @Test
    void shouldReportTheTransportsOfAListener() throws Exception {
        var node = InProcessSoftwareSisciNode.anyOfItsOwn();
        var provider =
                new FabricSelectorProvider(
                        List.of(
                                node.transport(""),
                                Transports.sisci(node.library(), Path.of("/nowhere/hosts")),
                                Transports.tcp()));
        try (var listener = provider.openServerSocketChannel()) {
            assertThat(listener).hasToString("FabricServerSocketChannel[tcp unbound]");

            listener.bind(ChannelPair.ANY_PORT);

            assertThat(listener)
                    .hasToString(
                            "FabricServerSocketChannel[tcp at %s; over sisci; not over sisci: there is no hosts file /nowhere/hosts]"
                                    .formatted(AddressText.of(listener.getLocalAddress())));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'tcp,infiniband', 'unknown transport \"infiniband\"; the transports are supersockets, sisci, rsocket, smc, tcp'",
        "'', 'unknown transport \"\"; the transports are supersockets, sisci, rsocket, smc, tcp'"
    })
    void shouldRejectAnUnknownTransport(String names, String message) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> TransportList.parse(names))
                .withMessage(message);
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> new FabricSelectorProvider(List.of()));
    }

    @Test
    void shouldKeepTheOrderOfTransports() {
        assertThat(TransportList.parse("tcp, smc").preferred())
                .containsExactly(KernelTransport.TCP, KernelTransport.SMC);
    }

    @Test
    void shouldReplaceTheSocketIfItsTransportCannotReachTheAddress() throws Exception {
        var provider = Implementation.SUPERSOCKETS.provider();
        try (var listener = Implementation.TCP.provider().openServerSocketChannel();
                var client = (FabricSocketChannel) provider.openSocketChannel();
                var selector = provider.openSelector()) {
            listener.bind(new InetSocketAddress(InetAddress.ofLiteral("::1"), 0));
            client.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            client.configureBlocking(false);
            var key = client.register(selector, SelectionKey.OP_CONNECT);
            assertThat(client.transport().name()).isEqualTo("supersockets");
            selector.selectNow(); // Registers the first socket of the channel.
            selector.selectedKeys().clear();

            client.connect(listener.getLocalAddress());

            assertThat(client.transport()).isSameAs(Transports.tcp());
            assertThat(selector.select()).isEqualTo(1);
            assertThat(key.isConnectable()).isTrue();
            assertThat(client.finishConnect()).isTrue();
            assertThat(client.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
        }
    }
}
