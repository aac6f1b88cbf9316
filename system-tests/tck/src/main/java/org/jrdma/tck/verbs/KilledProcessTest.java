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

/** Tests peers that are killed during a handshake. Their kernel notifies the other side. */
class KilledProcessTest {

    /** Far longer than the kernel takes, so that a wait until the deadline is detected. */
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

    private void start(String what, int port) throws IOException {
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
                                what,
                                device.name(),
                                address.getHostAddress(),
                                "" + port)
                        .redirectErrorStream(true)
                        .start();
        output = peer.inputReader();
    }

    /** Returns the rest of the next line from the peer. */
    private String said(String beginning) throws IOException {
        var line = output.readLine();
        assertThat(line)
                .as(() -> output.lines().collect(Collectors.joining("\n")))
                .startsWith(beginning);
        return line.substring(beginning.length());
    }

    /** Kills the peer by SIGKILL. */
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
            throw new Fabric.Listed("iWARP has no confirmation");
        }
    }

    @Test
    void shouldReportThatThePeerEndedBeforeItAccepted() throws Exception {
        start("listen", 0);
        var port = Integer.parseInt(said("at "));
        var before = connections.openIdentifiers().size();
        var connecting =
                connections.connectAsync(
                        new InetSocketAddress(address, port), domain, options(), TIMEOUT);
        said("asked");

        kill();

        assertThatThrownBy(() -> connecting.get(SOON_SECONDS, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(CmException.class)
                .hasMessageContaining("No connection from")
                .hasMessageContaining("the peer rejected the request");
        assertThat(connections.openIdentifiers()).hasSize(before);
    }

    @Test
    void shouldReportThatThePeerEndedBeforeItsRequestWasAccepted() throws Exception {
        needsConfirmation(fabric);
        try (var listener = connections.listen(new InetSocketAddress(address, 0))) {
            start("connect", listener.localAddress().getPort());
            said("asking");
            try (var request = listener.next(TIMEOUT)) {
                kill();
                Thread.sleep(500); // until the kernel's notification has arrived
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
    void shouldReportThatThePeerEndedBeforeItConfirmed() throws Exception {
        needsConfirmation(fabric);
        try (var listener = connections.listen(new InetSocketAddress(address, 0))) {
            start("connect", listener.localAddress().getPort());
            var before = connections.openIdentifiers().size();
            var accepting = listener.acceptAsync(domain, options(), TIMEOUT);
            said("asking");
            said("answered");

            kill();

            assertThatThrownBy(() -> accepting.get(SOON_SECONDS, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(CmException.class)
                    .hasMessageContaining("the peer rejected the request");
            assertThat(connections.openIdentifiers()).hasSize(before);
        }
    }
}
