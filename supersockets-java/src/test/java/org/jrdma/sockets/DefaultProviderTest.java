package org.jrdma.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the provider when the JVM loads it as the default. Each test starts a child JVM, because a
 * JVM loads the provider only once.
 */
@Timeout(60)
class DefaultProviderTest {

    private static final String PROVIDER =
            "-Djava.nio.channels.spi.SelectorProvider=" + FabricSelectorProvider.class.getName();

    @Test
    void shouldServeAnUnmodifiedProgram() throws Exception {
        var output =
                run(
                        "--enable-native-access=ALL-UNNAMED",
                        PROVIDER,
                        "-Djrdma.sockets.transports=supersockets,tcp",
                        "-Djrdma.sockets.supersockets.family=" + Implementation.familyFile("2"));

        assertThat(output).contains("all of FabricSelectorProvider, over supersockets");
    }

    @Test
    void shouldReportWhichOptionIsMissing() throws Exception {
        assertThat(run("--illegal-native-access=deny", PROVIDER))
                .contains("Start java with --enable-native-access=");
    }

    @Test
    void shouldReportWhichPropertyIsInvalid() throws Exception {
        assertThat(
                        run(
                                "--enable-native-access=ALL-UNNAMED",
                                PROVIDER,
                                "-Djrdma.sockets.transports=avian"))
                .contains("jrdma.sockets.transports: unknown transport \"avian\"");
    }

    @Test
    void shouldNotFallBackToTcpIfThePropertyDoesNotListIt() throws Exception {
        assertThat(
                        run(
                                "--enable-native-access=ALL-UNNAMED",
                                PROVIDER,
                                "-Djrdma.sockets.transports=supersockets",
                                "-Djrdma.sockets.supersockets.family=/nowhere/family"))
                .contains(
                        "SocketException: No transport can be used: supersockets: driver not loaded: there is no /nowhere/family");
        assertThat(
                        run(
                                "--enable-native-access=ALL-UNNAMED",
                                PROVIDER,
                                "-Djrdma.fabric=software",
                                "-Djrdma.sockets.transports=sisci",
                                "-Djrdma.sockets.sisci.hosts=/nowhere/hosts"))
                .contains(
                        "ConnectException: there is no hosts file /nowhere/hosts",
                        "SocketChannel.open"); // The client fails, not the listener.
    }

    @Test
    void shouldReportWhichLineOfThePolicyIsMalformed(@TempDir Path folder) throws Exception {
        var policy =
                Files.writeString(folder.resolve("policy"), "connect * * tcp\nlisten * * avian");

        assertThat(
                        run(
                                "--enable-native-access=ALL-UNNAMED",
                                PROVIDER,
                                "-Djrdma.sockets.policy=" + policy))
                .contains(policy + ":2: unknown transport \"avian\"");
    }

    @Test
    void shouldApplyThePolicy(@TempDir Path folder) throws Exception {
        var policy =
                Files.writeString(folder.resolve("policy"), "connect 127.0.0.1 * supersockets");

        assertThat(
                        run(
                                "--enable-native-access=ALL-UNNAMED",
                                PROVIDER,
                                "-Djrdma.sockets.transports=tcp",
                                "-Djrdma.sockets.policy=" + policy,
                                "-Djrdma.sockets.supersockets.family="
                                        + Implementation.familyFile("2")))
                .contains("all of FabricSelectorProvider, over supersockets");
    }

    @Test
    void shouldReportWhatIsWrongWithTheHostsFile(@TempDir Path folder) throws Exception {
        var hosts = folder.resolve("hosts");
        assertThat(runOverSisci(hosts))
                .contains("over tcp (sisci: there is no hosts file " + hosts + ")");

        Files.writeString(hosts, "storage01 8\n");
        assertThat(runOverSisci(hosts))
                .contains("over tcp (sisci: %s:1: unexpected \"storage01\"".formatted(hosts));
    }

    private static String runOverSisci(Path hosts) throws Exception {
        return run(
                "--enable-native-access=ALL-UNNAMED",
                PROVIDER,
                "-Djrdma.fabric=software",
                "-Djrdma.sockets.transports=sisci,tcp",
                "-Djrdma.sockets.sisci.hosts=" + hosts);
    }

    private static String run(String... options) throws Exception {
        var process = ChildJvm.of(Program.class, List.of(options)).start();
        return new String(process.getInputStream().readAllBytes(), UTF_8);
    }

    /** A program that uses only {@code java.nio.channels}. */
    static final class Program {
        public static void main(String... arguments) throws Exception {
            var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            try (var listener = ServerSocketChannel.open().bind(address);
                    var client = SocketChannel.open(listener.getLocalAddress());
                    var server = listener.accept();
                    var selector = Selector.open();
                    var datagrams = DatagramChannel.open()) {
                client.write(TestBytes.of("a"));
                var received = TestBytes.read(server, 1);
                var providers =
                        Stream.of(
                                        listener.provider(),
                                        client.provider(),
                                        server.provider(),
                                        selector.provider(),
                                        datagrams.provider(),
                                        SelectorProvider.provider())
                                .map(provider -> provider.getClass().getSimpleName())
                                .collect(Collectors.toSet());
                Pipe.open();
                if (received.equals("a") && providers.size() == 1) {
                    System.out.println(
                            "all of %s, over %s (%s)"
                                    .formatted(
                                            providers.iterator().next(),
                                            ((FabricSocketChannel) client).transport(),
                                            OpenConnections.of(client).whyNotFaster()));
                }
            }
        }
    }
}
