package org.jrdma.sockets;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.adaptor.ChannelAdaptors;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.policy.Policy;
import org.jrdma.sockets.policy.Preferences;
import org.jrdma.sockets.policy.ReloadablePolicyFile;
import org.jrdma.sockets.policy.TransportList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30)
class PolicyTest {

    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    /**
     * The SuperSockets transport with the address family of IPv4, which makes it usable without the
     * driver.
     */
    private static final Transport SUPERSOCKETS =
            Transports.supersockets(Implementation.familyFile("2"));

    private static final TransportList STANDARD =
            TransportList.of(List.of(SUPERSOCKETS, Transports.tcp()));

    @TempDir private Path folder;

    private Path file;

    @BeforeEach
    void nameFile() {
        file = folder.resolve("policy");
    }

    private ReloadablePolicyFile policy(Duration pause, String... lines) throws IOException {
        Files.write(file, List.of(lines));
        return new ReloadablePolicyFile(file, pause);
    }

    private FabricSelectorProvider provider(String... lines) throws IOException {
        return new FabricSelectorProvider(Preferences.of(STANDARD, policy(ofHours(1), lines)));
    }

    private static String names(Optional<TransportList> transports) {
        return transports
                .map(found ->
                        found.preferred().stream()
                                .map(Transport::name)
                                .collect(Collectors.joining(",")))
                .orElse("none");
    }

    @ParameterizedTest
    @CsvSource({
        "storage01, 8003, 'smc,tcp'",
        "STORAGE01, 8008, 'smc,tcp'",
        "storage01, 8009, 'supersockets'",
        "10.77.255.1, 22, 'tcp'",
        "10.77.255.1, 23, 'supersockets'",
        "10.79.255.1, 23, 'none'",
        "fd00::77, 9000, 'smc,tcp'",
        "fd01::77, 9000, 'none'",
        "192.0.2.7, 1, 'tcp'",
        "192.0.2.8, 1, 'none'"
    })
    void shouldApplyTheFirstRuleThatMatches(String host, int port, String transports) {
        var policy =
                Policy.parse(
                        "policy",
                        List.of(
                                "# a comment",
                                "",
                                "listen  * * tcp",
                                "connect storage01,fd00::/16  8003-8008,9000  smc # and TCP",
                                "connect *                    22              tcp no-fallback",
                                "connect storage01,10.76.0.0/15 *     supersockets no-fallback",
                                "connect 192.0.2.7 * tcp"));
        var known =
                host.equalsIgnoreCase("storage01")
                        ? new InetSocketAddress(named(host), port)
                        : new InetSocketAddress(InetAddress.ofLiteral(host), port);

        assertThat(names(policy.forPeer(known))).isEqualTo(transports);
        assertThat(names(policy.forListener(known))).isEqualTo("tcp");
    }

    private static InetAddress named(String host) {
        try {
            return InetAddress.getByAddress(host, new byte[] {10, 77, 0, 1});
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "accept * * tcp, 'a rule starts with connect or listen, not with \"accept\"'",
        "connect * *, 'a rule has the fields connect or listen, hosts, ports, transports, and optionally no-fallback'",
        "connect * * tcp x y, 'a rule has the fields connect or listen, hosts, ports, transports, and optionally no-fallback'",
        "connect * * tcp no-tcp, 'unexpected \"no-tcp\" after the transports; only no-fallback is allowed there'",
        "connect * * avian, 'unknown transport \"avian\"; the transports are '",
        "connect 10.77.0.0/33 * tcp, '\"10.77.0.0/33\" has an invalid prefix length; expected 0 to 32 bits'",
        "connect 10.77.0.300 * tcp, '\"10.77.0.300\" is not an address'",
        "connect storage/16 * tcp, '\"storage/16\" is not an address'",
        "connect -storage * tcp, '\"-storage\" is not a host; '",
        "'connect a,,b * tcp', '\"\" is not a host; '",
        "connect * 0 tcp, '\"0\" is not a port; expected a port such as 8003, a range such as 8003-8008, up to 65535, or *'",
        "connect * 9-8 tcp, '\"9-8\" is not a port; '",
        "connect * http tcp, '\"http\" is not a port; '"
    })
    void shouldRejectAMalformedLineWithItsFileAndNumber(String line, String message)
            throws Exception {
        var policy = policy(ofHours(1), "connect * * tcp", line);

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(policy::current)
                .withMessageStartingWith("%s:2: %s", file, message);
    }

    @Test
    void shouldRejectConnectionsIfThePolicyIsMissing() throws Exception {
        var provider =
                new FabricSelectorProvider(
                        Preferences.of(STANDARD, new ReloadablePolicyFile(file, ofHours(1))));

        try (var channel = provider.openSocketChannel()) {
            assertThatThrownBy(() -> channel.connect(new InetSocketAddress(LOOPBACK, 9)))
                    .isExactlyInstanceOf(FabricException.class)
                    .hasMessage("jrdma.sockets.policy: there is no " + file);
        }
    }

    @Test
    void shouldReportWhyThePolicyCannotBeRead() throws Exception {
        Files.write(file, new byte[] {'c', (byte) 0xff});
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> new ReloadablePolicyFile(file, ofHours(1)).current())
                .withMessage(
                        "jrdma.sockets.policy: %s cannot be read: the file is not UTF-8 text",
                        file);
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> new ReloadablePolicyFile(file.getParent(), ofHours(1)).current())
                .withMessage(
                        "jrdma.sockets.policy: %s cannot be read: Is a directory",
                        file.getParent());
    }

    @Test
    void shouldApplyAChangeAndKeepTheOldRulesIfItIsMalformed() throws Exception {
        var policy = policy(Duration.ZERO, "connect * * tcp");
        var peer = new InetSocketAddress(LOOPBACK, 9);
        assertThat(names(policy.current().forPeer(peer))).isEqualTo("tcp");

        Files.write(file, List.of("connect * * smc no-fallback"));
        assertThat(names(policy.current().forPeer(peer))).isEqualTo("smc");

        Files.write(file, List.of("connect * * nothing of this kind"));
        assertThat(names(policy.current().forPeer(peer))).isEqualTo("smc");
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(policy::reload)
                .withMessageStartingWith(file + ":1: ");

        Files.delete(file);
        assertThat(names(policy.current().forPeer(peer))).isEqualTo("smc");

        Files.write(file, List.of("# nothing"));
        assertThat(names(policy.current().forPeer(peer))).isEqualTo("none");
    }

    @Test
    void shouldReloadThePolicyOnRequest() throws Exception {
        var policy = policy(ofHours(1), "connect * * tcp");
        var preferences = Preferences.of(STANDARD, policy);
        var peer = new InetSocketAddress(LOOPBACK, 9);
        assertThat(preferences.forPeer(peer)).isNotEqualTo(STANDARD);
        Files.write(file, List.of("# nothing"));
        assertThat(preferences.forPeer(peer)).isNotEqualTo(STANDARD);

        preferences.reload();

        assertThat(preferences.forPeer(peer)).isEqualTo(STANDARD);
    }

    @Test
    void shouldReplaceTheSocketOfAChannelIfARuleMatchesItsAddress() throws Exception {
        var provider = provider("connect 127.0.0.1 * tcp", "connect 127.0.0.2 * smc,tcp");
        try (var listener = ChannelPair.listener(provider);
                var channel = provider.openSocketChannel();
                var bound = provider.openSocketChannel();
                var withFamily = provider.openSocketChannel(StandardProtocolFamily.INET)) {
            assertThat(listener.toString()).contains("supersockets");
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            bound.bind(ChannelPair.ANY_PORT);
            var boundAddress = bound.getLocalAddress();

            for (var each : List.of(channel, bound, withFamily)) {
                assertThat(transport(each)).isEqualTo("supersockets");
                each.connect(listener.getLocalAddress());
                assertThat(transport(each)).isEqualTo("tcp");
                assertThat(OpenConnections.of(each).isFallback()).isFalse();
                try (var accepted = listener.accept()) {
                    assertThat(accepted.getRemoteAddress()).isEqualTo(each.getLocalAddress());
                    each.write(TestBytes.of("a"));
                    assertThat(TestBytes.read(accepted, 1)).isEqualTo("a");
                }
            }

            assertThat(channel.getOption(StandardSocketOptions.SO_KEEPALIVE)).isTrue();
            assertThat(bound.getLocalAddress()).isEqualTo(boundAddress);
        }
    }

    private static String transport(SocketChannel channel) {
        return ((FabricSocketChannel) channel).transport().name();
    }

    @Test
    void shouldListenOverTheTransportOfThePolicy() throws Exception {
        var probeProvider = provider();
        int port;
        try (var probe = ChannelPair.listener(probeProvider)) {
            port = ((InetSocketAddress) probe.getLocalAddress()).getPort();
        }
        var provider = provider("listen 127.0.0.0/8 %d tcp".formatted(port));

        try (var listener = provider.openServerSocketChannel();
                var other = ChannelPair.listener(provider)) {
            assertThat(listener.bind(new InetSocketAddress(LOOPBACK, port)).toString())
                    .contains("tcp");
            assertThat(listener.getOption(StandardSocketOptions.SO_REUSEADDR)).isTrue();
            assertThat(other.toString()).contains("supersockets");
        }
    }

    @Test
    void shouldUseNoOtherTransportIfFallbackIsNotAllowed() throws Exception {
        var absent = Transports.smc().whyNot();
        assumeTrue(absent.isPresent(), "this kernel has SMC");
        var provider = provider("connect 127.0.0.1 * smc no-fallback");
        try (var listener = ChannelPair.listener(provider);
                var channel = provider.openSocketChannel()) {
            assertThatThrownBy(() -> channel.connect(listener.getLocalAddress()))
                    .isExactlyInstanceOf(SocketException.class)
                    .hasMessage("No transport can be used: smc: " + absent.get());
            assertThat(channel.isOpen()).isFalse();
        }
    }

    @Test
    void shouldConnectOverTheTransportThatThePolicyHasForEachAddress() throws Exception {
        var listenerProvider = provider();
        var preferences =
                Preferences.of(STANDARD, policy(ofHours(1), "connect localhost,127.0.0.1 * tcp"));
        try (var listener = listenerProvider.openServerSocketChannel()) {
            listener.bind(null);
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            try (var channel =
                            FabricSockets.connect(
                                    "127.0.0.1",
                                    port,
                                    preferences,
                                    ofSeconds(10),
                                    ChannelAdaptors.OF_CHANNELS);
                    var other =
                            FabricSockets.connect(
                                    "127.0.0.2",
                                    port,
                                    preferences,
                                    ofSeconds(1),
                                    ChannelAdaptors.OF_CHANNELS)) {
                assertThat(transport(channel)).isEqualTo("tcp");
                assertThat(transport(other)).isEqualTo("supersockets");
            }
        }
    }
}
