package org.jrdma.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.verbs.Access.LOCAL_WRITE;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jrdma.processes.Program;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DispatchedQueuePair;
import org.jrdma.verbs.MemoryRegion;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Other programs of rdma-core's that connect by address and port, on rxe1, with the software fabric
 * at the other end: {@code rdma_client}, {@code rdma_server} and {@code ucmatose}.
 */
class ConnectionProgramsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PORT = 7471;
    private static final int MESSAGES = 10;
    private static final int BYTES = 100;
    private static final int CONNECTIONS = 3;

    private ConnectionManager connections;
    private Device device;
    private CompletionDispatcher completions;
    private MemoryRegion memory;

    @BeforeEach
    void findConnections() throws IOException {
        connections = Side.connections();
    }

    private void open(Family family) throws IOException {
        device = Side.openSoftware(family);
        completions = device.newCompletionDispatcher(128);
        memory = device.newProtectionDomain().newArena(LOCAL_WRITE).region(BYTES);
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"C, IPV4", "JAVA, IPV4", "C, IPV6", "JAVA, IPV6"})
    void shouldExchangeAMessage(RpingTest.Server server, Family family) throws Exception {
        var isC = server == RpingTest.Server.C;
        var serverAddress = isC ? family.kernel() : family.software();
        try (var serving =
                isC
                        ? Program.start(Wire.atKernel("rdma_server", "-s", serverAddress))
                        : example(family, "rdma-server", "-s", serverAddress)) {
            if (!isC) {
                serving.awaitOutput("waiting at");
            }
            var code = 1;
            var output = "";
            for (var attempt = 0;
                    code != 0 && attempt < 20;
                    attempt++) { // until the server listens
                try (var calling =
                        isC
                                ? example(family, "rdma-client", "-s", serverAddress)
                                : Program.start(
                                        Wire.atKernel("rdma_client", "-s", serverAddress))) {
                    code = calling.await();
                    output = calling.output();
                }
            }
            assertThat(code).as(output).isZero();
            assertThat(serving.await()).as(serving.output()).isZero();
            assertThat(isC ? output : serving.output()).contains("received 16 bytes: ");
        }
    }

    private static Program example(Family family, String... words) throws IOException {
        var command =
                new ArrayList<>(List.of(System.getProperty("jrdma.root") + "/jrdma", "example"));
        command.addAll(List.of(words));
        return Program.start(
                Map.of(
                        "JRDMA_JAVA_OPTIONS",
                        "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djrdma.fabric=software"
                                + " -Djrdma.soft.devices="
                                + family.software()),
                command);
    }

    @ParameterizedTest
    @EnumSource(Family.class)
    void shouldAnswerTheMessagesOfUcmatose(Family family) throws Exception {
        open(family);
        try (var serving = ucmatose("-b", family.kernel())) {
            serving.awaitOutput("starting server");
            var peers = new ArrayList<Peer>();
            for (var count = 0; count < CONNECTIONS; count++) {
                peers.add(connect(new InetSocketAddress(family.kernel(), PORT)));
            }
            for (var peer : peers) {
                peer.receive();
                peer.send();
            }
            for (var peer : peers) {
                peer.connection.awaitDisconnected(PATIENCE);
                peer.connection.close();
            }
            assertThat(serving.await()).as(serving.output()).isZero();
            assertThat(serving.output()).contains("data transfers complete", "return status 0");
        }
    }

    @ParameterizedTest
    @EnumSource(Family.class)
    void shouldSendUcmatoseMessagesAndTakeItsAnswers(Family family) throws Exception {
        open(family);
        try (var listener = connections.listen(new InetSocketAddress(family.software(), PORT));
                var calling = ucmatose("-s", family.software())) {
            var peers = new ArrayList<Peer>();
            for (var count = 0; count < CONNECTIONS; count++) {
                var received = new ArrayList<Transfer>();
                peers.add(
                        new Peer(
                                listener.accept(memory.domain(), options(received), PATIENCE),
                                received));
            }
            for (var peer : peers) {
                peer.send();
            }
            for (var peer : peers) { // it answers none before it has heard from all
                peer.receive();
            }
            for (var peer : peers) {
                peer.connection.disconnect(PATIENCE);
                peer.connection.close();
            }
            assertThat(calling.await()).as(calling.output()).isZero();
            assertThat(calling.output()).contains("data transfers complete", "return status 0");
        }
    }

    /** A connection, with the receives that were there before it. */
    private final class Peer {

        private final Connection<DispatchedQueuePair> connection;
        private final List<Transfer> received;

        Peer(Connection<DispatchedQueuePair> connection, List<Transfer> received) {
            this.connection = connection;
            this.received = received;
        }

        void send() throws IOException {
            for (var message = 0; message < MESSAGES; message++) {
                connection.queuePair().send(memory.slice()).await(PATIENCE);
            }
        }

        void receive() throws IOException {
            for (var transfer : received) {
                assertThat(transfer.await(PATIENCE).bytes()).isEqualTo(BYTES);
            }
        }
    }

    /** Until the program has come to listen. */
    private Peer connect(InetSocketAddress server) throws Exception {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            var received = new ArrayList<Transfer>();
            try {
                return new Peer(
                        connections.connect(server, memory.domain(), options(received), PATIENCE),
                        received);
            } catch (CmException e) {
                assertThat(System.nanoTime()).as(e.getMessage()).isLessThan(deadline);
                Thread.sleep(200);
            }
        }
    }

    private ConnectionOptions<DispatchedQueuePair> options(List<Transfer> received) {
        return ConnectionOptions.of(
                        QueuePairOptions.reliable(completions).sends(MESSAGES).receives(MESSAGES))
                .prepared(queuePair -> {
                    for (var message = 0; message < MESSAGES; message++) {
                        received.add(queuePair.receive(memory.slice()));
                    }
                });
    }

    private static Program ucmatose(String... options) throws IOException {
        var command =
                new ArrayList<>(Wire.atKernel("stdbuf", "-oL", "ucmatose", "-c", "" + CONNECTIONS));
        command.addAll(List.of(options));
        return Program.start(command);
    }
}
