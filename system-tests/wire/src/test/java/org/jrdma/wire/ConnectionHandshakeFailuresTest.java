package org.jrdma.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.processes.Program;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.cm.EventChannel;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.model.PortSpace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests failed handshakes between the software fabric and the kernel. */
class ConnectionHandshakeFailuresTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static final int PORT = 7575;

    @TempDir private Path directory;

    private ConnectionManager connections;
    private Device device;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws IOException {
        connections = QueuePairFixture.connections();
        device = QueuePairFixture.openSoftware(Family.IPV4);
        domain = device.newProtectionDomain();
    }

    @AfterEach
    void close() {
        QueuePairFixture.softDevice(Family.IPV4).faults(NetworkFaults.NONE);
        device.close();
    }

    private ConnectionOptions<PolledQueuePair> options() throws IOException {
        return ConnectionOptions.of(
                QueuePairOptions.reliable(device.newCompletionQueue(16)).sends(1).receives(1));
    }

    private Path acceptFile() {
        return directory.resolve("acceptFile");
    }

    private Program kernel(String role, String host) throws IOException {
        return Program.start(
                VethLinkToKernel.atKernel(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KernelConnectionProgram.class.getName(),
                        role,
                        host,
                        String.valueOf(PORT),
                        acceptFile().toString()));
    }

    private CompletableFuture<Connection<PolledQueuePair>> startConnecting(Duration timeout)
            throws IOException {
        return connections.connectAsync(
                new InetSocketAddress(Family.IPV4.kernel(), PORT), domain, options(), timeout);
    }

    private static void assertTimesOut(CompletableFuture<?> connecting) {
        assertThatThrownBy(connecting::get)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(FabricTimeoutException.class);
    }

    private static ConnectionRequest next(Listener listener, Program kernel) throws IOException {
        try {
            return listener.next(Duration.ofSeconds(60));
        } catch (FabricTimeoutException e) {
            throw new AssertionError(kernel.output(), e);
        }
    }

    /**
     * Makes the peer accept the request, and returns its output. The timeout of the peer is shorter
     * than the minute for which its kernel repeats the reply.
     */
    private String letKernelAccept(Program kernel) throws Exception {
        Files.createFile(acceptFile());
        assertThat(kernel.await()).as(kernel.output()).isZero();
        return kernel.output();
    }

    @Test
    void shouldReportAWithdrawnRequestToTheKernel() throws Exception {
        try (var kernel = kernel("accept", Family.IPV4.kernel())) {
            kernel.awaitOutput("listening");
            var connecting = startConnecting(Duration.ofSeconds(3));
            kernel.awaitOutput("requested");
            assertTimesOut(connecting);

            assertThat(letKernelAccept(kernel))
                    .contains("CmException")
                    .contains("the peer has probably timed out or withdrawn its request");
        }
    }

    @Test
    void shouldRejectAReplyOfTheKernelWithoutAConnection() throws Exception {
        try (var kernel = kernel("accept", Family.IPV4.kernel())) {
            kernel.awaitOutput("listening");
            var connecting = startConnecting(Duration.ofSeconds(5));
            kernel.awaitOutput("requested");
            QueuePairFixture.softDevice(Family.IPV4).faults(NetworkFaults.NONE.loss(1));
            assertTimesOut(connecting);
            QueuePairFixture.softDevice(Family.IPV4).faults(NetworkFaults.NONE);

            assertThat(letKernelAccept(kernel))
                    .contains("CmException")
                    .contains("the communication ID is invalid");
        }
    }

    @Test
    void shouldReportTheReasonOfARejectionToTheKernel() throws Exception {
        try (var listener =
                        connections.listen(new InetSocketAddress(Family.IPV4.software(), PORT));
                var kernel = kernel("connect", Family.IPV4.software())) {
            next(listener, kernel).reject("full".getBytes(StandardCharsets.UTF_8));

            assertThat(kernel.await()).as(kernel.output()).isZero();
            assertThat(kernel.output())
                    .contains("its program rejected the request")
                    .contains("full");
        }
    }

    /**
     * The kernel sends the ECE options in the header of the request, and in fields of the request
     * that are otherwise zero.
     */
    @Test
    void shouldReadTheKernelsVendorOptionsAndRefuseThem() throws Exception {
        try (var channel = connections.newEventChannel();
                var kernel = start(channel)) {
            var event = channel.next(Duration.ofSeconds(60));
            assertThat(event).isInstanceOf(ConnectionEvent.ConnectRequest.class);
            assertThat(event.identifier().peerVendorOptions())
                    .isEqualTo(KernelConnectionProgram.OFFERED);

            event.identifier().rejectVendorOptions("not these".getBytes(StandardCharsets.UTF_8));

            assertThat(kernel.await()).as(kernel.output()).isZero();
            assertThat(kernel.output())
                    .contains("the vendor-specific options are not supported")
                    .contains("not these");
        }
    }

    /**
     * Listens, and starts a peer that connects to the listener with ECE options.
     *
     * @param channel the event channel of the listener
     */
    private Program start(EventChannel channel) throws IOException {
        var listener = channel.newIdentifier(PortSpace.TCP);
        listener.bind(new InetSocketAddress(Family.IPV4.software(), PORT));
        listener.listen(4);
        return kernel("offer", Family.IPV4.software());
    }

    @Test
    void shouldReportThatTheKernelHasNoListener() throws Exception {
        var connecting = startConnecting(TIMEOUT);

        assertThatThrownBy(connecting::get)
                .hasCauseInstanceOf(CmException.class)
                .hasMessageContaining("no program listens at that port");
    }
}
