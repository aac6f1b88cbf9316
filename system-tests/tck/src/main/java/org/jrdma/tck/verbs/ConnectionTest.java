package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.ListenerClosedException;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests {@code ConnectionManager} and {@code Listener}, with which each side establishes a
 * connection by a single call.
 */
class ConnectionTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(200);

    private final Fabric fabric = Fabric.underTest();
    private ConnectionManager connections;
    private Device device;
    private ProtectionDomain domain;
    private CompletionDispatcher completions;
    private MemoryRegion memory;
    private InetAddress address;
    private Listener listener;

    @BeforeEach
    void open() throws IOException {
        connections = fabric.connections();
        device = fabric.open();
        domain = device.newProtectionDomain();
        completions = device.newCompletionDispatcher(2048);
        memory = domain.newArena(Pair.ALL).region(1024);
        address = Fabric.address(device);
        listener = connections.listen(new InetSocketAddress(address, 0));
    }

    @AfterEach
    void close() {
        if (listener != null) {
            listener.close();
        }
        if (device != null) {
            device.close();
        }
    }

    private boolean isIwarp() {
        return device.description().transportType() == TransportType.IWARP;
    }

    private ConnectionOptions<AsyncQueuePair> options() {
        return ConnectionOptions.of(QueuePairOptions.reliable(completions).sends(4).receives(4));
    }

    private CompletableFuture<Connection<AsyncQueuePair>> startConnecting() {
        return connections.connectAsync(listener.localAddress(), domain, options(), TIMEOUT);
    }

    private static <T> CompletableFuture<T> start(Callable<T> call) {
        return BackgroundCalls.call(Thread.ofVirtual(), call);
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    private static Throwable failureOf(CompletableFuture<?> future) throws Exception {
        try {
            throw new AssertionError("the call succeeded with " + future.get(60, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void assertStartsWith(PrivateData data, String text) {
        assertThat(new String(data.bytes(), StandardCharsets.UTF_8)).startsWith(text);
    }

    @Test
    void shouldConnectWithPrivateDataBothWaysAndMoveMessages() throws Exception {
        var received = new AtomicReference<Transfer>();
        var accepting =
                start(() ->
                        listener.accept(
                                domain,
                                options()
                                        .privateData(bytes("welcome"))
                                        .prepared(queuePair ->
                                                received.set(
                                                        queuePair.receive(memory.slice(0, 64)))),
                                TIMEOUT));

        try (var here =
                        connections.connect(
                                listener.localAddress(),
                                domain,
                                options().privateData(bytes("hello")),
                                TIMEOUT);
                var there = get(accepting)) {
            assertStartsWith(here.privateData(), "welcome");
            assertStartsWith(there.privateData(), "hello");
            assertThat(here.peerAddress()).isEqualTo(listener.localAddress());
            assertThat(there.peerAddress()).isEqualTo(here.localAddress());
            assertThat(here.queuePair().state()).isEqualTo(QueuePairState.READY_TO_SEND);
            memory.segment().setString(512, "Saluton");
            here.queuePair().send(memory.slice(512, 8)).await(TIMEOUT);
            assertThat(received.get().await(TIMEOUT).bytes()).isEqualTo(8);
            assertThat(memory.segment().getString(0)).isEqualTo("Saluton");
            there.queuePair().read(memory.slice(64, 8), memory.remote().at(512)).await(TIMEOUT);
            assertThat(memory.segment().getString(64)).isEqualTo("Saluton");
            here.queuePair().write(memory.slice(512, 8), memory.remote().at(128)).await(TIMEOUT);
            assertThat(memory.segment().getString(128)).isEqualTo("Saluton");
        }
    }

    @Test
    void shouldReportADisconnectOnBothSidesAndFlush() throws Exception {
        for (var callerDisconnects : new boolean[] {true, false}) {
            var connecting = startConnecting();
            try (var there = listener.accept(domain, options(), TIMEOUT);
                    var here = get(connecting)) {
                var local = callerDisconnects ? here : there;
                var peer = callerDisconnects ? there : here;
                var pending = peer.queuePair().receive(memory.slice(0, 8));
                assertThat(peer.disconnected()).isNotDone();
                local.disconnect(TIMEOUT);
                peer.awaitDisconnected(TIMEOUT);
                assertThat(pending.awaitCompletion(TIMEOUT).status())
                        .isEqualTo(CompletionStatus.FLUSHED);
                assertThat(local.disconnected()).isCompleted();
                local.disconnect(TIMEOUT);
            }
        }
    }

    @Test
    void shouldNotifyThePeerWhenItIsClosed() throws Exception {
        var connecting = startConnecting();
        try (var there = listener.accept(domain, options(), TIMEOUT)) {
            get(connecting).close();

            there.awaitDisconnected(TIMEOUT);
        }
    }

    @Test
    void shouldReportWhichSideRejectedWithWhichData() throws Exception {
        var connecting = startConnecting();
        try (var request = listener.next(TIMEOUT)) {
            assertThat(request.deviceName()).isEqualTo(device.name());
            assertThat(request.devicePort()).isEqualTo(1);
            assertThat(request.peerAddress().getAddress()).isEqualTo(address);
            request.reject(bytes("full"));
        }

        assertThat(failureOf(connecting))
                .isInstanceOfSatisfying(
                        CmException.class,
                        e -> {
                            assertThat(e)
                                    .hasMessageContaining("No connection from ")
                                    .hasMessageContaining(
                                            "to " + AddressText.of(listener.localAddress()))
                                    .hasMessageContaining("its program rejected the request");
                            var rejected = (ConnectionEvent.Rejected) e.event().orElseThrow();
                            assertStartsWith(rejected.privateData(), "full");
                        });
    }

    @Test
    void shouldReportThatThereIsNoListener() {
        listener.close();

        assertThatThrownBy(() ->
                        connections.connect(listener.localAddress(), domain, options(), TIMEOUT))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining(AddressText.of(listener.localAddress()))
                .hasMessageContaining(
                        isIwarp()
                                ? Errno.describe(Errno.ECONNREFUSED)
                                : "no program listens at that port");
    }

    @Test
    void shouldReportThatThereIsNoRoute() {
        var unreachable = new InetSocketAddress("192.0.2.1", 7);

        assertThatThrownBy(() -> connections.resolve(unreachable, TIMEOUT))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rdma_resolve_addr failed for 192.0.2.1:7");
    }

    @Test
    void shouldReportTheDeviceOfARouteAndRejectADomainOfAnotherDevice() throws Exception {
        try (var route = connections.resolve(listener.localAddress(), TIMEOUT)) {
            assertThat(route.deviceName()).isEqualTo(device.name());
            assertThat(route.devicePort()).isEqualTo(1);
            assertThat(route.peerAddress()).isEqualTo(listener.localAddress());
            assertThat(route.localAddress().getAddress()).isEqualTo(address);
        }
        var others =
                fabric.verbs().devices().stream()
                        .filter(other -> !other.name().equals(device.name()))
                        .toList();
        for (var description : others) {
            try (var other = fabric.verbs().open(description.name());
                    var otherDomain = other.newProtectionDomain();
                    var otherCompletions = other.newCompletionDispatcher(16)) {
                assertThatThrownBy(() ->
                                connections.connect(
                                        listener.localAddress(),
                                        otherDomain,
                                        ConnectionOptions.of(
                                                QueuePairOptions.reliable(otherCompletions)),
                                        TIMEOUT))
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining(device.name())
                        .hasMessageContaining(other.name());
            }
        }
    }

    @Test
    void shouldRefuseAQueuePairThatIsNotReliable() {
        fabric.needs(Feature.DATAGRAMS);

        assertThatThrownBy(() ->
                        connections.connect(
                                listener.localAddress(),
                                domain,
                                ConnectionOptions.of(QueuePairOptions.datagrams(completions)),
                                TIMEOUT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("requires a queue pair of type RELIABLE_CONNECTION");
    }

    @Test
    void shouldGiveUpOnASilentPeerAtTheDeadline() throws Exception {
        var start = System.nanoTime();

        assertThatThrownBy(() ->
                        connections.connect(listener.localAddress(), domain, options(), SHORT))
                .isInstanceOf(FabricTimeoutException.class)
                .hasMessageContaining("the peer has not answered")
                .hasMessageContaining(AddressText.of(listener.localAddress()));

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
        assertThat(domain.isOpen()).isTrue();
    }

    /**
     * The kernel does not report that the peer has given up its connect request. Instead, the
     * listener's next step fails, which is to accept the request.
     */
    @Test
    void shouldReportThatThePeerHasTimedOutWhenItsRequestIsAccepted() throws Exception {
        assertThatThrownBy(() ->
                        connections.connect(listener.localAddress(), domain, options(), SHORT))
                .isInstanceOf(FabricTimeoutException.class);
        if (isIwarp()) {
            // The call succeeds, because siw does not wait for a confirmation by the peer.
            listener.accept(domain, options(), TIMEOUT).close();
            return;
        }
        var objects = objects();

        assertThatThrownBy(() -> listener.accept(domain, options(), Duration.ofSeconds(5)))
                .isInstanceOf(CmException.class)
                .hasMessageContaining("No connection from")
                .hasMessageContaining("peer");

        awaitObjects(objects);
        assertThatThrownBy(() -> listener.next(SHORT)).isInstanceOf(FabricTimeoutException.class);
    }

    @Test
    void shouldLimitPendingRequestsToTheBacklog() throws Exception {
        try (var small = connections.listen(new InetSocketAddress(address, 0), 2)) {
            var before = connections.openIdentifiers().size();
            var callers = new ArrayList<CompletableFuture<Connection<AsyncQueuePair>>>();
            for (var number = 0; number < 5; number++) {
                callers.add(
                        connections.connectAsync(small.localAddress(), domain, options(), TIMEOUT));
            }
            if (isIwarp()) {
                small.accept(domain, options(), TIMEOUT).close();
                // The driver siw rejects connect requests beyond the backlog instead of delaying
                // them.
                return;
            }
            var deadline = Deadline.after(TIMEOUT);
            while (connections.openIdentifiers().size() < before + 5 && !deadline.hasPassed()) {
                Thread.sleep(1);
            }
            Thread.sleep(200);
            assertThat(connections.openIdentifiers())
                    .as("identifiers of the callers, but none of a pending request")
                    .hasSize(before + 5);

            var accepted = new ArrayList<Connection<AsyncQueuePair>>();
            for (var number = 0; number < 5; number++) {
                accepted.add(small.accept(domain, options(), TIMEOUT));
            }

            for (var caller : callers) {
                get(caller).close();
            }
            accepted.forEach(Connection::close);
        }
    }

    @Test
    void shouldKeepAConnectionWhenItsListenerOrManagerIsClosed() throws Exception {
        var route = connections.resolve(listener.localAddress(), TIMEOUT);
        var connecting = start(() -> route.connect(domain, options(), TIMEOUT));
        var request = listener.next(TIMEOUT);
        try (var there = request.accept(domain, options(), TIMEOUT);
                var here = get(connecting)) {
            route.close();
            request.close();

            assertThat(route.toString()).contains(AddressText.of(listener.localAddress()));
            var pending = there.queuePair().receive(memory.slice(0, 8));
            here.queuePair().send(memory.slice(512, 8)).await(TIMEOUT);
            assertThat(pending.await(TIMEOUT).bytes()).isEqualTo(8);
        }
        request.close();
        assertThat(request.toString()).startsWith("request from ").doesNotContain("/");
    }

    @Test
    void shouldFailPendingCallsWhenClosedByAnotherThread() throws Exception {
        var route = connections.resolve(listener.localAddress(), TIMEOUT);
        var connecting = start(() -> route.connect(domain, options(), TIMEOUT));
        try (var _ = listener.next(TIMEOUT)) {
            var waiting = start(() -> listener.next(TIMEOUT));
            Thread.sleep(50);

            var closing =
                    start(() -> {
                        route.close();
                        listener.close();
                        return true;
                    });

            assertThat(failureOf(connecting))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(route + " is closed");
            assertThat(failureOf(waiting))
                    .isInstanceOf(ListenerClosedException.class)
                    .hasMessage(listener + " is closed");
            closing.get(5, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldEndAllWaitsForRequestsAndLaterOnesWhenTheListenerIsClosed() throws Exception {
        var forever = ChronoUnit.FOREVER.getDuration();
        var waits =
                List.of(
                        start(() -> listener.next(forever)),
                        start(() -> listener.next(TIMEOUT)),
                        start(() -> listener.accept(domain, options(), forever)),
                        listener.nextAsync(forever),
                        listener.acceptAsync(domain, options(), TIMEOUT));
        Thread.sleep(50);

        listener.close();

        for (var wait : waits) {
            assertThat(failureOf(wait))
                    .isInstanceOf(ListenerClosedException.class)
                    .hasMessage(listener + " is closed");
        }
        assertThatThrownBy(() -> listener.next(forever))
                .isInstanceOf(ListenerClosedException.class)
                .hasMessage(listener + " is closed");
    }

    /** The end must be reported in the same way if a request arrives at the time of the close. */
    @Test
    void shouldEndAServersLoopWhileRequestsArrive() throws Exception {
        for (var round = 0; round < 10; round++) {
            var closing = connections.listen(new InetSocketAddress(Fabric.address(device), 0));
            var serving =
                    start(() -> {
                        while (true) {
                            closing.next(TIMEOUT).close();
                        }
                    });
            var connecting =
                    start(() ->
                            connections.connect(
                                    closing.localAddress(), domain, options(), TIMEOUT));
            if (round % 2 == 0) {
                Thread.sleep(round);
            }

            closing.close();

            assertThat(failureOf(serving)).isInstanceOf(ListenerClosedException.class);
            assertThat(failureOf(connecting)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void shouldCancelFuturesAndCloseTheirObjects() throws Exception {
        var objects = objects();
        for (var round = 0; round < 10; round++) {
            var cancelled = startConnecting();
            try (var _ = listener.next(TIMEOUT)) {
                cancel(cancelled);
            }
            var route = connections.resolve(listener.localAddress(), TIMEOUT);
            var connecting = route.connectAsync(domain, options(), TIMEOUT);
            try (var _ = listener.next(TIMEOUT)) {
                cancel(connecting);
            }
            var listening = listener.nextAsync(TIMEOUT);
            var accepting = listener.acceptAsync(domain, options(), TIMEOUT);
            Thread.sleep(round % 3);
            cancel(listening);
            cancel(accepting);
            var resolving = connections.resolveAsync(listener.localAddress(), TIMEOUT);
            if (!resolving.cancel(true)) {
                get(resolving).close(); // The connection was established before the cancellation.
            }
            awaitObjects(objects);
        }
        var connecting = startConnecting();
        try (var there = get(listener.acceptAsync(domain, options(), TIMEOUT));
                var here = get(connecting)) {
            assertThat(there.peerAddress()).isEqualTo(here.localAddress());
        }
    }

    private static void cancel(CompletableFuture<?> future) {
        assertThat(future.cancel(true)).isTrue();
    }

    /**
     * The peer in this test requests a connection, but never confirms the response of the listener.
     */
    @Test
    void shouldRefuseThePeerWhenTheFutureOfAnAcceptIsCancelled() throws Exception {
        if (isIwarp()) {
            throw new Fabric.Listed("on iWARP the peer does not confirm the response");
        }
        var objects = objects();
        try (var channel = connections.newEventChannel();
                var queuePair = domain.newReliableQueuePair(completions)) {
            var identifier = channel.newIdentifier(PortSpace.TCP);
            identifier.resolveAddress(listener.localAddress(), TIMEOUT);
            channel.next(TIMEOUT);
            identifier.resolveRoute(TIMEOUT);
            channel.next(TIMEOUT);
            identifier.connect(ConnectionParameters.of(queuePair.number(), 1));
            var accepting =
                    get(listener.nextAsync(TIMEOUT)).acceptAsync(domain, options(), TIMEOUT);
            assertThat(channel.next(TIMEOUT)).isInstanceOf(ConnectionEvent.ConnectResponse.class);

            cancel(accepting);

            assertThat(channel.next(TIMEOUT)).isInstanceOf(ConnectionEvent.Rejected.class);
        }
        awaitObjects(objects);
    }

    @Test
    void shouldEndAwaitDisconnectedWhenTheProtectionDomainIsClosed() throws Exception {
        var others = device.newProtectionDomain();
        var connecting = startConnecting();
        try (var there = listener.accept(others, options(), TIMEOUT);
                var here = get(connecting)) {
            var waiting =
                    start(() -> {
                        there.awaitDisconnected(TIMEOUT);
                        return true;
                    });
            Thread.sleep(20);

            others.close();

            assertThat(failureOf(waiting))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith(there + " is closed because ")
                    .hasMessageContaining("protection domain");
            here.awaitDisconnected(TIMEOUT); // The peer must be notified.
        }
    }

    @Test
    void shouldEndAConnectWhenTheProtectionDomainIsClosed() throws Exception {
        var others = device.newProtectionDomain();
        var objects = objects();
        var connecting =
                connections.connectAsync(listener.localAddress(), others, options(), TIMEOUT);
        try (var _ = listener.next(TIMEOUT)) {
            others.close();

            assertThat(failureOf(connecting))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(AddressText.of(listener.localAddress()))
                    .hasMessageContaining(others + " is closed");
        }
        awaitObjects(objects.stream().filter(name -> !name.equals(others.toString())).toList());
    }

    @Test
    void shouldConnectWithTheGivenOptions() throws Exception {
        int freePort;
        try (var other = connections.listen(new InetSocketAddress(address, 0))) {
            freePort = other.localAddress().getPort();
        }
        var connecting =
                connections.connectAsync(
                        listener.localAddress(),
                        domain,
                        options()
                                .localAddress(new InetSocketAddress(address, freePort))
                                .typeOfService(0x20)
                                .acknowledgeTimeout(Duration.ofMillis(33)),
                        TIMEOUT);
        try (var there =
                        listener.accept(
                                domain,
                                options().acknowledgeTimeout(Duration.ofMillis(16)),
                                TIMEOUT);
                var here = get(connecting)) {
            assertThat(here.localAddress()).isEqualTo(new InetSocketAddress(address, freePort));
            assertThatThrownBy(() -> here.identifier().writeEvent(1, 2))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("its events are handled by a connection");
            if (!isIwarp()) {
                assertThat(here.queuePair().query().acknowledgeTimeout())
                        .isEqualTo(Duration.ofNanos(33_554_432));
                assertThat(there.queuePair().query().acknowledgeTimeout())
                        .isEqualTo(Duration.ofNanos(16_777_216));
                // The accepting side takes the traffic class from the request.
                for (var end : List.of(here, there)) {
                    assertThat(
                                    end.queuePair()
                                            .query()
                                            .address()
                                            .route()
                                            .orElseThrow()
                                            .trafficClass())
                            .isEqualTo(0x20);
                }
            }
        }
        var unreachable = options().localAddress(new InetSocketAddress("192.0.2.1", 0));
        assertThatThrownBy(() ->
                        connections.connect(listener.localAddress(), domain, unreachable, TIMEOUT))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("192.0.2.1");
        try (var route = connections.resolve(listener.localAddress(), TIMEOUT)) {
            for (var late : List.of(options().typeOfService(1), unreachable)) {
                assertThatThrownBy(() -> route.connect(domain, late, TIMEOUT))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(route + ", which already has both");
            }
        }
        for (var wrong : new int[] {-1, 256}) {
            assertThatThrownBy(() -> options().typeOfService(wrong))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        for (var wrong : List.of(Duration.ZERO, Duration.ofNanos(-1))) {
            assertThatThrownBy(() -> options().acknowledgeTimeout(wrong))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldStopWaitingWhenInterrupted() throws Exception {
        var failure = new CompletableFuture<Throwable>();
        BackgroundCalls.start(Thread.ofVirtual(), () -> listener.next(TIMEOUT), failure)
                .interrupt();

        assertThat(get(failure)).isInstanceOf(InterruptedIOException.class);
    }

    @Test
    void shouldSendNoRequestWhenPreparationFails() throws Exception {
        assertThatThrownBy(() ->
                        connections.connect(
                                listener.localAddress(),
                                domain,
                                options()
                                        .prepared(_ -> {
                                            throw new IOException("no more memory");
                                        }),
                                TIMEOUT))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no more memory");

        assertThat(listenerReceivesARequest()).isFalse();
    }

    private boolean listenerReceivesARequest() throws IOException {
        try (var _ = listener.next(SHORT)) {
            return true;
        } catch (FabricTimeoutException e) {
            return false;
        }
    }

    @Test
    void shouldServeAHundredConnectionsFromVirtualThreads() throws Exception {
        var count = isIwarp() ? 20 : 100; // The driver siw supports only few queue pairs.
        var clients = new ArrayList<CompletableFuture<Integer>>();
        var servers = new ArrayList<CompletableFuture<Integer>>();
        for (var number = 0; number < count; number++) {
            var place = number * 8L;
            servers.add(
                    start(() -> {
                        var received = new AtomicReference<Transfer>();
                        var options =
                                options()
                                        .prepared(queuePair ->
                                                received.set(
                                                        queuePair.receive(memory.slice(place, 8))));
                        try (var connection = listener.accept(domain, options, TIMEOUT)) {
                            var bytes = received.get().await(TIMEOUT).bytes();
                            connection.awaitDisconnected(TIMEOUT);
                            return bytes;
                        }
                    }));
            clients.add(
                    start(() -> {
                        try (var connection =
                                connections.connect(
                                        listener.localAddress(), domain, options(), TIMEOUT)) {
                            connection.queuePair().send(memory.slice(1000, 8)).await(TIMEOUT);
                            connection.disconnect(TIMEOUT);
                            return 8;
                        }
                    }));
        }

        for (var task : List.of(clients, servers)) {
            for (var future : task) {
                assertThat(get(future)).isEqualTo(8);
            }
        }
    }

    @Test
    void shouldRefuseToConnectToPortZero() throws Exception {
        var objects = objects();

        assertThatThrownBy(() ->
                        connections.connect(
                                new InetSocketAddress(address, 0), domain, options(), TIMEOUT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("port 0");
        assertThat(objects()).isEqualTo(objects);
    }

    @Test
    void shouldCloseAllObjectsAfterFailures() throws Exception {
        var objects = objects();
        failToConnect(10); // The warm-up creates the objects that are created only once.
        awaitObjects(objects);
        var descriptors = descriptors();

        failToConnect(1_000);

        awaitObjects(objects);
        assertThat(descriptors()).isEqualTo(descriptors);
    }

    /**
     * Waits until exactly the expected objects are open. On iWARP, a queue pair is closed shortly
     * after its connection has failed, and an attempt that was canceled early may still create and
     * close objects.
     */
    private void awaitObjects(List<String> expected) throws InterruptedException {
        var deadline = Deadline.after(TIMEOUT);
        var found = objects();
        while (!found.equals(expected) && !deadline.hasPassed()) {
            Thread.sleep(1);
            found = objects();
        }
        assertThat(found).isEqualTo(expected);
    }

    /** Returns the open objects of the device and of the connection manager. */
    private List<String> objects() {
        var ofDevices =
                fabric.verbs().openDevices().stream()
                        .flatMap(lifetime -> lifetime.dependents().stream());
        return Stream.concat(ofDevices, connections.openIdentifiers().stream())
                .flatMap(lifetime ->
                        Stream.concat(Stream.of(lifetime), lifetime.dependents().stream()))
                .map(Lifetime::toString)
                .toList();
    }

    /**
     * Makes {@code times} connection attempts, all of which fail. The reasons alternate: the
     * request is dropped, the request is rejected, the preparation fails, the port has no listener,
     * the attempt times out, another thread closes the route, the address has no route.
     */
    private void failToConnect(int times) throws Exception {
        for (var time = 0; time < times; time++) {
            switch (time % 7) {
                case 0, 1 -> {
                    var connecting = startConnecting();
                    try (var request = listener.next(TIMEOUT)) {
                        if (time % 7 == 1) {
                            request.reject(bytes("full"));
                        }
                    }
                    assertThat(failureOf(connecting)).isInstanceOf(CmException.class);
                }
                case 2 ->
                        assertThatThrownBy(() ->
                                        connections.connect(
                                                listener.localAddress(),
                                                domain,
                                                options()
                                                        .prepared(_ -> {
                                                            throw new IOException("no memory");
                                                        }),
                                                TIMEOUT))
                                .hasMessageContaining("no memory");
                case 3 ->
                        assertThatThrownBy(() ->
                                        connections.connect(
                                                new InetSocketAddress(address, 1),
                                                domain,
                                                options(),
                                                TIMEOUT))
                                .isInstanceOf(VerbsException.class);
                case 4 -> {
                    assertThatThrownBy(() ->
                                    connections.connect(
                                            listener.localAddress(),
                                            domain,
                                            options(),
                                            Duration.ofMillis(20)))
                            .isInstanceOf(FabricTimeoutException.class);
                    listenerReceivesARequest();
                }
                case 5 -> {
                    var route = connections.resolve(listener.localAddress(), TIMEOUT);
                    var connecting = start(() -> route.connect(domain, options(), TIMEOUT));
                    try (var _ = listener.next(TIMEOUT)) {
                        route.close();
                        assertThat(failureOf(connecting)).isInstanceOf(IllegalStateException.class);
                    }
                }
                default ->
                        assertThatThrownBy(() ->
                                        connections.resolve(
                                                new InetSocketAddress("192.0.2.1", 7), TIMEOUT))
                                .isInstanceOf(VerbsException.class);
            }
        }
    }

    private static long descriptors() throws IOException {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
