package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.soft.roce.SoftDevice;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.TracedPacket;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.model.AddressQuery;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests connections by address and port on the software fabric, with and without network faults.
 */
class SoftConnectionFaultTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(55);
    private static final int BYTES = 8;

    /**
     * Gives a process an address that no other process uses. By default, a device of another test
     * could take the address of a killed process, and answer the messages to it.
     */
    private static final String OWN_ADDRESS = "-Djrdma.soft.devices=127.77.0.1";

    private SoftDevice soft;
    private ConnectionManager connections;
    private Device device;
    private ProtectionDomain domain;
    private CompletionDispatcher completions;
    private MemoryRegion memory;
    private Listener listener;
    private ExecutorService threads;

    @BeforeEach
    void open() throws IOException {
        var library = SoftRoce.onLoopback(1);
        soft = library.devices().getFirst();
        connections = ConnectionManager.from(library);
        device = Verbs.from(library).open(soft.name());
        domain = device.newProtectionDomain();
        completions = device.newCompletionDispatcher(32_768);
        memory = domain.newArena(Access.LOCAL_WRITE).region(2 * BYTES);
        var address = device.gids(1).getFirst().gid().ipv4().orElseThrow();
        listener = connections.listen(new InetSocketAddress(address, 0), 1_000);
        threads = Executors.newVirtualThreadPerTaskExecutor();
    }

    @AfterEach
    void close() {
        soft.faults(NetworkFaults.NONE);
        threads.shutdownNow();
        listener.close();
        device.close();
    }

    private ConnectionOptions<AsyncQueuePair> options() {
        return ConnectionOptions.of(QueuePairOptions.reliable(completions).sends(1).receives(1));
    }

    /**
     * Accepts a connection, receives a message, and waits until the peer disconnects. Returns the
     * length of the message.
     */
    private int serve() throws IOException {
        var received = new AtomicReference<Transfer>();
        var options =
                options()
                        .prepared(queuePair ->
                                received.set(queuePair.receive(memory.slice(0, BYTES))));
        try (var connection = listener.accept(domain, options, TIMEOUT)) {
            var bytes = received.get().await(TIMEOUT).bytes();
            connection.awaitDisconnected(TIMEOUT);
            return bytes;
        }
    }

    /**
     * Connects to the listener, sends a message and disconnects. Returns the length of the message.
     */
    private int call() throws IOException {
        try (var connection =
                connections.connect(listener.localAddress(), domain, options(), TIMEOUT)) {
            connection.queuePair().send(memory.slice(BYTES, BYTES)).await(TIMEOUT);
            connection.disconnect(TIMEOUT);
            return BYTES;
        }
    }

    /** Opens, uses and closes a number of connections concurrently, and returns the duration. */
    private Duration connect(int count) throws Exception {
        var start = System.nanoTime();
        var tasks = new ArrayList<Future<Integer>>();
        for (var number = 0; number < count; number++) {
            tasks.add(threads.submit(this::serve));
            tasks.add(threads.submit(this::call));
        }
        for (var task : tasks) {
            assertThat(task.get(2 * TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(BYTES);
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @Test
    void shouldOpenUseAndCloseManyConnectionsWithinAMinute() throws Exception {
        var count = Boolean.getBoolean("jrdma.test.quick") ? 300 : 2_000;

        var time = connect(count);

        System.out.printf(
                Locale.ROOT,
                "%,d connections of virtual threads, opened, used and closed: %.1f s, %,d us"
                        + " each%n",
                count,
                time.toMillis() / 1e3,
                time.toNanos() / 1_000 / count);
        assertThat(time).isLessThan(Duration.ofSeconds(60));
    }

    @Test
    void shouldConnectAndDisconnectOverABadNetwork() throws Exception {
        soft.faults(
                NetworkFaults.seeded(7)
                        .loss(0.15)
                        .duplication(0.15)
                        .reordering(0.15)
                        .corruption(0.05)
                        .delay(0.1, Duration.ofMillis(20)));

        connect(Boolean.getBoolean("jrdma.test.quick") ? 10 : 40);

        assertThat(soft.faultCounts().lost()).isPositive();
    }

    @Test
    void shouldTimeOutConnectAndDisconnectOnASilentNetwork() throws Exception {
        var accepting = threads.submit(() -> listener.accept(domain, options(), TIMEOUT));
        try (var connection =
                        connections.connect(listener.localAddress(), domain, options(), TIMEOUT);
                var _ = accepting.get()) {
            soft.faults(NetworkFaults.NONE.loss(1));
            var start = System.nanoTime();

            assertThatThrownBy(() ->
                            connections.connect(
                                    listener.localAddress(),
                                    domain,
                                    options(),
                                    Duration.ofMillis(200)))
                    .isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("the peer has not answered");
            assertThatThrownBy(() -> connection.disconnect(Duration.ofMillis(200)))
                    .isInstanceOf(FabricTimeoutException.class);

            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isLessThan(Duration.ofSeconds(5));
        }
    }

    @Test
    @Tag("slow")
    void shouldTimeOutIfThePeerIsKilledAfterItHasReceivedTheRequest() throws Exception {
        try (var killedPeer = ChildJvm.start(List.of(OWN_ADDRESS), HalfPeer.class)) {
            var hostAndPort = killedPeer.line().split(" ", -1);
            var peer = new InetSocketAddress(hostAndPort[0], Integer.parseInt(hostAndPort[1]));
            var connecting =
                    threads.submit(() ->
                            connections.connect(peer, domain, options(), Duration.ofSeconds(3)));
            killedPeer.line("request received");
            killedPeer.kill();

            assertThat(connecting)
                    .failsWithin(Duration.ofSeconds(10))
                    .withThrowableThat()
                    .withCauseInstanceOf(FabricTimeoutException.class)
                    .withMessageContaining("the peer has not answered");
        }
        connect(1);
    }

    @Test
    @Tag("slow")
    void shouldTimeOutIfThePeerIsKilledAfterItsRequestAndServeOtherPeers() throws Exception {
        var here = listener.localAddress();
        try (var killedPeer =
                ChildJvm.start(
                        List.of(OWN_ADDRESS),
                        HalfPeer.class,
                        here.getAddress().getHostAddress(),
                        "" + here.getPort())) {
            try (var request = listener.next(TIMEOUT)) {
                killedPeer.kill();
                var start = System.nanoTime();

                assertThatThrownBy(() -> request.accept(domain, options(), Duration.ofSeconds(2)))
                        .isInstanceOf(FabricTimeoutException.class)
                        .hasMessageContaining("the peer has not confirmed");

                assertThat(Duration.ofNanos(System.nanoTime() - start))
                        .isLessThan(Duration.ofSeconds(8));
            }
        }
        connect(1);
    }

    /** A host can send such a request with a forged address. */
    @Test
    void shouldServeAClientWhileAnotherOneDoesNotConfirmItsConnection() throws Exception {
        var pending = listener.acceptAsync(domain, options(), TIMEOUT);
        try (var events = connections.newEventChannel();
                var unused = domain.newQueuePair(QueuePairOptions.reliable(completions))) {
            var silent = events.newIdentifier(PortSpace.TCP);
            silent.resolveAddress(listener.localAddress(), TIMEOUT);
            assertThat(events.next(TIMEOUT)).isInstanceOf(ConnectionEvent.AddressResolved.class);
            silent.resolveRoute(TIMEOUT);
            assertThat(events.next(TIMEOUT)).isInstanceOf(ConnectionEvent.RouteResolved.class);
            silent.connect(ConnectionParameters.of(unused.number(), 1));
            assertThat(events.next(TIMEOUT)).isInstanceOf(ConnectionEvent.ConnectResponse.class);

            var accepting = listener.acceptAsync(domain, options(), TIMEOUT);
            try (var _ = connections.connect(listener.localAddress(), domain, options(), TIMEOUT);
                    var _ = accepting.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(pending).isNotDone();
            }
        } finally {
            pending.cancel(true);
        }
    }

    /**
     * If the listener accepted, the peer would receive the number of a queue pair on another
     * device.
     */
    @Test
    void shouldRejectAnXrcDomainOfAnotherDevice() throws Exception {
        var library = SoftRoce.onLoopback(2);
        var manager = ConnectionManager.from(library);
        var names = library.devices().stream().map(SoftDevice::name).toList();
        try (var here = Verbs.from(library).open(names.getFirst());
                var other = Verbs.from(library).open(names.getLast());
                var itsDomain = here.newProtectionDomain();
                var others = other.newXrcDomain();
                var sent = here.newCompletionQueue(4)) {
            var host = here.gids(1).getFirst().gid().ipv4().orElseThrow().getHostAddress();
            var at = AddressQuery.at(host, "0").type(QueuePairType.XRC_RECEIVE).numericHost();
            try (var receiver = manager.listen(manager.lookUp(at, TIMEOUT).getFirst(), 4)) {
                var to =
                        AddressQuery.to(host, "" + receiver.localAddress().getPort())
                                .type(QueuePairType.XRC_SEND)
                                .numericHost();
                var accepting =
                        receiver.acceptAsync(
                                itsDomain, ConnectionOptions.xrcReceive(others), TIMEOUT);
                try (var route = manager.resolve(manager.lookUp(to, TIMEOUT).getFirst(), TIMEOUT)) {
                    assertThatThrownBy(() ->
                                    route.connect(
                                            itsDomain,
                                            ConnectionOptions.of(
                                                    QueuePairOptions.xrcSend(sent).sends(4)),
                                            TIMEOUT))
                            .isInstanceOf(CmException.class);
                }
                assertThat(accepting)
                        .failsWithin(TIMEOUT)
                        .withThrowableThat()
                        .withCauseInstanceOf(VerbsException.class)
                        .withMessageContaining("The connection uses device " + here.name())
                        .withMessageContaining(" belongs to device " + other.name());
            }
        }
    }

    @Test
    void shouldReportConnectionObjectsThatAProgramDoesNotClose() throws Exception {
        try (var forgetful =
                ChildJvm.start(
                        List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
                        LeakedConnections.class)) {
            var reported = new HashSet<String>();
            while (reported.size() < 5) {
                var line = forgetful.line();
                if (line.matches(".* connection from \\S+ to \\S+ was never closed.*")) {
                    reported.add(line.replaceFirst(".* (connection from \\S+) .*", "$1"));
                }
                for (var kind : List.of("listener at", "route to", "request from")) {
                    if (line.matches(".* " + kind + " .* was never closed.*")) {
                        reported.add(kind);
                    }
                }
            }
            assertThat(reported) // The other two reports are those of the ends of the connection.
                    .contains("listener at", "route to", "request from");
        }
    }

    @Test
    void shouldListTheDevicesIfNoneHasTheAddress() {
        assertThatThrownBy(() -> connections.listen(new InetSocketAddress("192.0.2.1", 7)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rdma_bind_addr")
                .hasMessageContaining(
                        "No device has the address 192.0.2.1. Available devices: soft0 at 127.");
    }

    @Test
    void shouldReportConnectionManagerMessagesToPacketListeners() throws Exception {
        var names = ConcurrentHashMap.<String>newKeySet();
        var disconnected = new CompletableFuture<Void>();
        soft.listen(packet -> {
            if (packet.direction() == TracedPacket.Direction.RECEIVED
                    && packet.destinationQueuePair() == 1) {
                names.add(packet.detail());
                if (packet.detail().equals("DREP")) {
                    disconnected.complete(null);
                }
            }
        });

        connect(1);

        disconnected.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        assertThat(names).contains("REQ", "REP", "RTU", "DREQ", "DREP");
    }
}
