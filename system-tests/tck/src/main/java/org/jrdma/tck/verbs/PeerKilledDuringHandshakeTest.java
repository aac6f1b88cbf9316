package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jrdma.ffi.Deadline;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests handshakes during which the process of the peer is killed. The kernel notifies this side in
 * place of the killed process.
 */
class PeerKilledDuringHandshakeTest {

    /**
     * A timeout much longer than SOON_SECONDS, so that the tests detect a call that ends only
     * because of its timeout.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final long SOON_SECONDS = 20;

    private final Fabric fabric = Fabric.underTest();
    private ConnectionManager connections;
    private Device device;
    private ProtectionDomain domain;
    private InetAddress address;
    private Process peer;
    private BufferedReader output;

    @BeforeEach
    void open() throws IOException {
        fabric.needs(Feature.CLEANING_UP_PROCESSES);
        connections = fabric.connections();
        device = fabric.open();
        domain = device.newProtectionDomain();
        address = Fabric.address(device);
    }

    @AfterEach
    void close() throws IOException {
        if (peer != null) {
            peer.destroyForcibly();
            output.close();
        }
        if (device != null) {
            device.close();
        }
    }

    private void start(String command, int port) throws IOException {
        peer =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                                "-cp",
                                System.getProperty("java.class.path"),
                                DyingPeer.class.getName(),
                                command,
                                device.name(),
                                address.getHostAddress(),
                                "" + port)
                        .redirectErrorStream(true)
                        .start();
        output = peer.inputReader();
    }

    /**
     * Reads the next output line of the peer, asserts how the line begins, and returns the rest.
     */
    private String readLine(String beginning) throws IOException {
        var line = output.readLine();
        assertThat(line)
                .as(() -> output.lines().collect(Collectors.joining("\n")))
                .startsWith(beginning);
        return line.substring(beginning.length());
    }

    /** Kills the process of the peer with SIGKILL, and waits until it has ended. */
    private void kill() throws InterruptedException {
        peer.destroyForcibly();
        assertThat(peer.waitFor(20, TimeUnit.SECONDS)).isTrue();
    }

    private ConnectionOptions<PolledQueuePair> options() throws VerbsException {
        return ConnectionOptions.of(
                QueuePairOptions.reliable(device.newCompletionQueue(16)).sends(1).receives(1));
    }

    private static void needsConfirmation(Fabric fabric) {
        if (fabric.profile() == Profile.SIW) {
            throw new Fabric.Listed("on iWARP the peer does not confirm the response");
        }
    }

    @Test
    void shouldReportThatThePeerDiedBeforeItAccepted() throws Exception {
        start("listen", 0);
        var port = Integer.parseInt(readLine("at "));
        var before = connections.openIdentifiers().size();
        var connecting =
                connections.connectAsync(
                        new InetSocketAddress(address, port), domain, options(), TIMEOUT);
        readLine("requested");

        kill();

        assertThatThrownBy(() -> connecting.get(SOON_SECONDS, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(CmException.class)
                .hasMessageContaining("No connection from")
                .hasMessageContaining("the peer rejected the request");
        assertThat(connections.openIdentifiers()).hasSize(before);
    }

    @Test
    void shouldReportThatThePeerDiedBeforeItsRequestWasAccepted() throws Exception {
        needsConfirmation(fabric);
        try (var listener = connections.listen(new InetSocketAddress(address, 0))) {
            start("connect", listener.localAddress().getPort());
            readLine("connecting");
            try (var request = listener.next(TIMEOUT)) {
                kill();
                Thread.sleep(500); // The pause lets the kernel's notification arrive.
                var deadline = Deadline.after(Duration.ofSeconds(SOON_SECONDS));

                assertThatThrownBy(() -> request.accept(domain, options(), TIMEOUT))
                        .isInstanceOf(CmException.class)
                        .hasMessageContaining("No connection from")
                        .hasMessageContaining("peer");

                assertThat(deadline.hasPassed()).isFalse();
            }
        }
    }

    @Test
    void shouldReportThatThePeerDiedBeforeItConfirmed() throws Exception {
        needsConfirmation(fabric);
        try (var listener = connections.listen(new InetSocketAddress(address, 0))) {
            start("connect", listener.localAddress().getPort());
            var before = connections.openIdentifiers().size();
            var accepting = listener.acceptAsync(domain, options(), TIMEOUT);
            readLine("connecting");
            readLine("accepted");

            kill();

            assertThatThrownBy(() -> accepting.get(SOON_SECONDS, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(CmException.class)
                    .hasMessageContaining("the peer rejected the request");
            assertThat(connections.openIdentifiers()).hasSize(before);
        }
    }
}
