package org.jrdma.tck.software;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ChannelClosedException;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.cm.RdmaChannelOptions;
import org.jrdma.verbs.cm.TerminationCause;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a key-value server and its clients, which are written with {@link RdmaChannel} as a new
 * user would write them.
 */
@Timeout(120)
class RdmaChannelKeyValueTest {

    private static final Duration DEADLINE = ofSeconds(30);
    private static final int CLIENTS = 20;
    private static final int ROUNDS = 25;

    private SoftRoce fabric;
    private ConnectionManager connections;
    private Device device;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws Exception {
        fabric = SoftRoce.onLoopback(1);
        connections = ConnectionManager.from(fabric);
        device = Verbs.from(fabric).openFirst();
        domain = device.newProtectionDomain();
    }

    @AfterEach
    void close() {
        device.close();
    }

    /**
     * Returns options that limit a channel to four messages in flight, so that clients have to wait
     * before they can send more.
     */
    private static RdmaChannelOptions options() {
        return RdmaChannelOptions.DEFAULT.window(4).messageBytes(256);
    }

    /** A client with one channel. Confined to the thread that has created it. */
    private static final class Client implements AutoCloseable {

        private final RdmaChannel channel;
        private final ArrayDeque<String> answers = new ArrayDeque<>();

        Client(
                ConnectionManager connections,
                ProtectionDomain domain,
                InetSocketAddress server,
                RdmaChannelOptions options)
                throws IOException {
            channel = connections.connectChannel(server, domain, options, DEADLINE);
        }

        /** Sends all requests without waiting for answers in between, and returns the answers. */
        List<String> requestAll(List<String> requests) throws IOException {
            for (var request : requests) {
                ChannelKeyValueServer.send(channel, request, this::arrived);
            }
            var all = new ArrayList<String>();
            while (all.size() < requests.size()) {
                all.add(nextAnswer(DEADLINE));
            }
            return all;
        }

        String request(String request) throws IOException {
            return requestAll(List.of(request)).getFirst();
        }

        String nextAnswer(Duration timeout) throws IOException {
            while (answers.isEmpty()) {
                // await() also returns when a send slot is free, which is not a timeout.
                if (channel.await(this::arrived, timeout) == RdmaChannel.WaitResult.TIMED_OUT) {
                    throw new IOException("The server does not answer.");
                }
            }
            return answers.remove();
        }

        private void arrived(MemorySegment buffer, long length) {
            answers.add(ChannelKeyValueServer.text(buffer, length));
        }

        @Override
        public void close() {
            channel.close();
        }
    }

    private Client connect(InetSocketAddress server) throws IOException {
        return new Client(connections, domain, server, options());
    }

    @Test
    void shouldServeManyClientsOnVirtualThreads() throws Exception {
        try (var server = new ChannelKeyValueServer(connections, domain, options());
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var clients = new ArrayList<Future<?>>();
            for (var number = 0; number < CLIENTS; number++) {
                var key = "key" + number;
                clients.add(
                        threads.submit(() -> {
                            try (var client = connect(server.address())) {
                                for (var round = 0; round < ROUNDS; round++) {
                                    assertThat(client.request("put " + key + " " + round))
                                            .isEqualTo("ok");
                                    assertThat(client.request("get " + key)).isEqualTo("" + round);
                                }
                            }
                            return null;
                        }));
            }
            for (var client : clients) {
                client.get(60, TimeUnit.SECONDS);
            }
            awaitEnds(server, TerminationCause.Cause.CLOSED_BY_PEER, CLIENTS);
            assertThat(server.ends()).containsOnlyKeys(TerminationCause.Cause.CLOSED_BY_PEER);
        }
    }

    private static void awaitEnds(
            ChannelKeyValueServer server, TerminationCause.Cause cause, int count)
            throws InterruptedException {
        for (var tries = 0;
                tries < 1_000 && server.ends().getOrDefault(cause, 0) < count;
                tries++) {
            Thread.sleep(10);
        }
        assertThat(server.ends()).containsEntry(cause, count);
    }

    /**
     * Four messages can be in flight in each direction. Therefore {@code await} returns for free
     * send slots before all answers have arrived, and the client must not treat this as a timeout.
     */
    @Test
    void shouldNotMistakeAFreeSendSlotForATimeout() throws Exception {
        try (var server = new ChannelKeyValueServer(connections, domain, options());
                var client = connect(server.address())) {
            var requests = new ArrayList<String>();
            for (var number = 0; number < 40; number++) {
                requests.add("put key " + number);
            }

            assertThat(client.requestAll(requests)).hasSize(40).containsOnly("ok");
            assertThat(client.request("get key")).isEqualTo("39");
        }
    }

    @Test
    void shouldKeepAClientWhoseServerAnswersLate() throws Exception {
        try (var server = new ChannelKeyValueServer(connections, domain, options());
                var client = connect(server.address())) {
            ChannelKeyValueServer.send(client.channel, "sleep 500", client::arrived);

            assertThatThrownBy(() -> client.nextAnswer(ofMillis(50)))
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(ChannelClosedException.class);
            assertThat(client.channel.termination()).isEmpty();
            assertThat(client.nextAnswer(DEADLINE)).isEqualTo("ok");
            assertThat(client.request("get nothing")).isEmpty();
        }
    }

    @Test
    void shouldReportToClientsThatTheServerHasStopped() throws Exception {
        try (var server = new ChannelKeyValueServer(connections, domain, options());
                var client = connect(server.address())) {
            assertThat(client.request("put key value")).isEqualTo("ok");

            server.stop();

            assertEnds(client, TerminationCause.Cause.CLOSED_BY_PEER);
            assertThat(server.ends()).containsOnlyKeys(TerminationCause.Cause.CLOSED_HERE);
        }
    }

    /**
     * A killed process of the software fabric does not disconnect, because no kernel does so on its
     * behalf. The client notices the loss only when its request times out.
     */
    @Test
    void shouldReportAServerThatWasKilledAsLost() throws Exception {
        try (var server = ChildJvm.start(List.of(), ChannelKeyValueServer.class)) {
            var hostAndPort = server.line().split(" ", -1);
            var address = new InetSocketAddress(hostAndPort[0], Integer.parseInt(hostAndPort[1]));
            var fastFailure = options().acknowledgeTimeout(ofMillis(60)).retries(3);
            try (var client = new Client(connections, domain, address, fastFailure)) {
                assertThat(client.request("put key value")).isEqualTo("ok");

                server.kill();
                ChannelKeyValueServer.send(client.channel, "get key", client::arrived);

                assertEnds(client, TerminationCause.Cause.LOST);
            }
        }
    }

    private static void assertEnds(Client client, TerminationCause.Cause cause) {
        assertThatThrownBy(() -> client.nextAnswer(DEADLINE))
                .isInstanceOfSatisfying(
                        ChannelClosedException.class,
                        e -> assertThat(e.termination().cause()).isEqualTo(cause));
        assertThat(client.channel.termination().map(TerminationCause::cause)).hasValue(cause);
    }
}
