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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
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

/** Connections in one call on each side. */
class ConnectionTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
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

    private boolean isWarp() {
        return device.description().transportType() == TransportType.IWARP;
    }

    private ConnectionOptions<AsyncQueuePair> options() {
        return ConnectionOptions.of(QueuePairOptions.reliable(completions).sends(4).receives(4));
    }

    private CompletableFuture<Connection<AsyncQueuePair>> connecting() {
        return connections.connectAsync(listener.localAddress(), domain, options(), PATIENCE);
    }

    private static <T> CompletableFuture<T> start(Callable<T> call) {
        return Waits.call(Thread.ofVirtual(), call);
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    private static Throwable failureOf(CompletableFuture<?> future) throws Exception {
        try {
            throw new AssertionError("it succeeded: " + future.get(60, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void assertBegins(PrivateData data, String text) {
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
                                PATIENCE));

        try (var here =
                        connections.connect(
                                listener.localAddress(),
                                domain,
                                options().privateData(bytes("hello")),
                                PATIENCE);
                var there = get(accepting)) {
            assertBegins(here.privateData(), "welcome");
            assertBegins(there.privateData(), "hello");
            assertThat(here.peerAddress()).isEqualTo(listener.localAddress());
            assertThat(there.peerAddress()).isEqualTo(here.localAddress());
            assertThat(here.queuePair().state()).isEqualTo(QueuePairState.READY_TO_SEND);
            memory.segment().setString(512, "Saluton");
            here.queuePair().send(memory.slice(512, 8)).await(PATIENCE);
            assertThat(received.get().await(PATIENCE).bytes()).isEqualTo(8);
            assertThat(memory.segment().getString(0)).isEqualTo("Saluton");
            there.queuePair().read(memory.slice(64, 8), memory.remote().at(512)).await(PATIENCE);
            assertThat(memory.segment().getString(64)).isEqualTo("Saluton");
            here.queuePair().write(memory.slice(512, 8), memory.remote().at(128)).await(PATIENCE);
            assertThat(memory.segment().getString(128)).isEqualTo("Saluton");
        }
    }

    @Test
    void shouldTellBothSidesOfADisconnectOfEitherAndFlush() throws Exception {
        for (var ofTheCaller : new boolean[] {true, false}) {
            var connecting = connecting();
            try (var there = listener.accept(domain, options(), PATIENCE);
                    var here = get(connecting)) {
                var one = ofTheCaller ? here : there;
                var other = ofTheCaller ? there : here;
                var pending = other.queuePair().receive(memory.slice(0, 8));
                assertThat(other.disconnected()).isNotDone();

                one.disconnect(PATIENCE);

                other.awaitDisconnected(PATIENCE);
                assertThat(pending.awaitCompletion(PATIENCE).status())
                        .isEqualTo(CompletionStatus.FLUSHED);
                assertThat(one.disconnected()).isCompleted();
                one.disconnect(PATIENCE);
            }
        }
    }

    @Test
    void shouldTellThePeerWhenItIsClosed() throws Exception {
        var connecting = connecting();
        try (var there = listener.accept(domain, options(), PATIENCE)) {
            get(connecting).close();

            there.awaitDisconnected(PATIENCE);
        }
    }

    @Test
    void shouldSayWhoRefusedWithWhichData() throws Exception {
        var connecting = connecting();
        try (var request = listener.next(PATIENCE)) {
            assertThat(request.deviceName()).isEqualTo(device.name());
            assertThat(request.peerAddress().getAddress()).isEqualTo(address);
            request.reject(bytes("full"));
        }

        assertThat(failureOf(connecting))
                .isInstanceOfSatisfying(
                        CmException.class,
                        e -> {
                            assertThat(e)
                                    .hasMessageContaining("No connection from /")
                                    .hasMessageContaining("to " + listener.localAddress())
                                    .hasMessageContaining("its program refused");
                            var rejected = (ConnectionEvent.Rejected) e.event().orElseThrow();
                            assertBegins(rejected.privateData(), "full");
                        });
    }

    @Test
    void shouldSayThatNobodyListens() {
        listener.close();

        assertThatThrownBy(() ->
                        connections.connect(listener.localAddress(), domain, options(), PATIENCE))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining(listener.localAddress().toString())
                .hasMessageContaining(
                        isWarp() ? Errno.describe(Errno.ECONNREFUSED) : "nobody listens");
    }

    @Test
    void shouldSayThatThereIsNoWay() {
        var nowhere = new InetSocketAddress("192.0.2.1", 7);

        assertThatThrownBy(() -> connections.resolve(nowhere, PATIENCE))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining(nowhere.toString());
    }

    @Test
    void shouldTellTheDeviceOfARouteAndRefuseADomainOfAnother() throws Exception {
        try (var route = connections.resolve(listener.localAddress(), PATIENCE)) {
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
                                        PATIENCE))
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
                                PATIENCE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("it takes one of the type RELIABLE_CONNECTION");
    }

    @Test
    void shouldGiveUpOnASilentPeerAtTheDeadline() throws Exception {
        var start = System.nanoTime();

        assertThatThrownBy(() ->
                        connections.connect(listener.localAddress(), domain, options(), SHORT))
                .isInstanceOf(FabricTimeoutException.class)
                .hasMessageContaining("the peer has not answered")
                .hasMessageContaining(listener.localAddress().toString());

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
        assertThat(domain.isOpen()).isTrue();
    }

    /** The kernel does not tell of a request that is withdrawn: it just refuses the next step. */
    @Test
    void shouldSayThatThePeerHasGivenUpWhenItsRequestIsAccepted() throws Exception {
        assertThatThrownBy(() ->
                        connections.connect(listener.localAddress(), domain, options(), SHORT))
                .isInstanceOf(FabricTimeoutException.class);
        if (isWarp()) {
            listener.accept(domain, options(), PATIENCE).close(); // there nobody confirms
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
    void shouldHearNoMoreRequestsThanTheBacklogHasRoomForUntilTheyAreTaken() throws Exception {
        try (var small = connections.listen(new InetSocketAddress(address, 0), 2)) {
            var before = connections.openIdentifiers().size();
            var callers = new ArrayList<CompletableFuture<Connection<AsyncQueuePair>>>();
            for (var number = 0; number < 5; number++) {
                callers.add(
                        connections.connectAsync(
                                small.localAddress(), domain, options(), PATIENCE));
            }
            if (isWarp()) {
                small.accept(domain, options(), PATIENCE).close(); // there, others are refused
                return;
            }
            var deadline = Deadline.after(PATIENCE);
            while (connections.openIdentifiers().size() < before + 5 && !deadline.hasPassed()) {
                Thread.sleep(1);
            }
            Thread.sleep(200);
            assertThat(connections.openIdentifiers()).as("of callers alone").hasSize(before + 5);

            var accepted = new ArrayList<Connection<AsyncQueuePair>>();
            for (var number = 0; number < 5; number++) {
                accepted.add(small.accept(domain, options(), PATIENCE));
            }

            for (var caller : callers) {
                get(caller).close();
            }
            accepted.forEach(Connection::close);
        }
    }

    @Test
    void shouldLeaveAConnectionAloneWhenWhatItWasMadeOfIsClosed() throws Exception {
        var route = connections.resolve(listener.localAddress(), PATIENCE);
        var connecting = start(() -> route.connect(domain, options(), PATIENCE));
        var request = listener.next(PATIENCE);
        try (var there = request.accept(domain, options(), PATIENCE);
                var here = get(connecting)) {
            route.close();
            request.close();

            assertThat(route.toString()).contains(listener.localAddress().toString());
            var pending = there.queuePair().receive(memory.slice(0, 8));
            here.queuePair().send(memory.slice(512, 8)).await(PATIENCE);
            assertThat(pending.await(PATIENCE).bytes()).isEqualTo(8);
        }
        request.close();
        assertThat(request.toString()).startsWith("request from /");
    }

    @Test
    void shouldEndAtOnceWhenClosedFromAnotherThread() throws Exception {
        var route = connections.resolve(listener.localAddress(), PATIENCE);
        var connecting = start(() -> route.connect(domain, options(), PATIENCE));
        try (var _ = listener.next(PATIENCE)) {
            var waiting = start(() -> listener.next(PATIENCE));
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
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(listener + " is closed");
            closing.get(5, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldEndAtOnceWhenAFutureIsCancelledAndLeaveNothingBehind() throws Exception {
        var objects = objects();
        for (var round = 0; round < 10; round++) {
            var asking = connecting();
            try (var _ = listener.next(PATIENCE)) {
                cancel(asking);
            }
            var route = connections.resolve(listener.localAddress(), PATIENCE);
            var connecting = route.connectAsync(domain, options(), PATIENCE);
            try (var _ = listener.next(PATIENCE)) {
                cancel(connecting);
            }
            var listening = listener.nextAsync(PATIENCE);
            var accepting = listener.acceptAsync(domain, options(), PATIENCE);
            Thread.sleep(round % 3);
            cancel(listening);
            cancel(accepting);
            var resolving = connections.resolveAsync(listener.localAddress(), PATIENCE);
            if (!resolving.cancel(true)) {
                get(resolving).close(); // it was faster
            }
            awaitObjects(objects);
        }
        var connecting = connecting();
        try (var there = get(listener.acceptAsync(domain, options(), PATIENCE));
                var here = get(connecting)) {
            assertThat(there.peerAddress()).isEqualTo(here.localAddress());
        }
    }

    private static void cancel(CompletableFuture<?> future) {
        assertThat(future.cancel(true)).isTrue();
    }

    /** Who has asked, and never confirms. */
    @Test
    void shouldRefuseThePeerWhenTheFutureOfAnAcceptIsCancelled() throws Exception {
        if (isWarp()) {
            throw new Fabric.Listed("iWARP has no confirmation to wait for");
        }
        var objects = objects();
        try (var channel = connections.newEventChannel();
                var queuePair = domain.newReliableQueuePair(completions)) {
            var identifier = channel.newIdentifier(PortSpace.TCP);
            identifier.resolveAddress(listener.localAddress(), PATIENCE);
            channel.next(PATIENCE);
            identifier.resolveRoute(PATIENCE);
            channel.next(PATIENCE);
            identifier.connect(ConnectionParameters.of(queuePair.number(), 1));
            var accepting =
                    get(listener.nextAsync(PATIENCE)).acceptAsync(domain, options(), PATIENCE);
            assertThat(channel.next(PATIENCE)).isInstanceOf(ConnectionEvent.ConnectResponse.class);

            cancel(accepting);

            assertThat(channel.next(PATIENCE)).isInstanceOf(ConnectionEvent.Rejected.class);
        }
        awaitObjects(objects);
    }

    @Test
    void shouldWakeWhoWaitsWhenTheProtectionDomainIsClosed() throws Exception {
        var others = device.newProtectionDomain();
        var connecting = connecting();
        try (var there = listener.accept(others, options(), PATIENCE);
                var here = get(connecting)) {
            var waiting =
                    start(() -> {
                        there.awaitDisconnected(PATIENCE);
                        return true;
                    });
            Thread.sleep(20);

            others.close();

            assertThat(failureOf(waiting))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith(there + " is closed: ")
                    .hasMessageContaining("protection domain");
            here.awaitDisconnected(PATIENCE); // the peer is told
        }
    }

    @Test
    void shouldWakeWhoConnectsWhenTheProtectionDomainIsClosed() throws Exception {
        var others = device.newProtectionDomain();
        var objects = objects();
        var connecting =
                connections.connectAsync(listener.localAddress(), others, options(), PATIENCE);
        try (var _ = listener.next(PATIENCE)) {
            others.close();

            assertThat(failureOf(connecting))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(listener.localAddress().toString())
                    .hasMessageContaining(others + " is closed");
        }
        awaitObjects(objects.stream().filter(name -> !name.equals(others.toString())).toList());
    }

    @Test
    void shouldConnectAsTheOptionsSay() throws Exception {
        int port; // that is free
        try (var other = connections.listen(new InetSocketAddress(address, 0))) {
            port = other.localAddress().getPort();
        }
        var connecting =
                connections.connectAsync(
                        listener.localAddress(),
                        domain,
                        options()
                                .localAddress(new InetSocketAddress(address, port))
                                .typeOfService(0x20)
                                .acknowledgeTimeout(Duration.ofMillis(33)),
                        PATIENCE);
        try (var there =
                        listener.accept(
                                domain,
                                options().acknowledgeTimeout(Duration.ofMillis(16)),
                                PATIENCE);
                var here = get(connecting)) {
            assertThat(here.localAddress()).isEqualTo(new InetSocketAddress(address, port));
            assertThatThrownBy(() -> here.identifier().writeEvent(1, 2))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("A connection takes the events");
            if (!isWarp()) {
                assertThat(here.queuePair().query().timeout()).isEqualTo(13);
                assertThat(there.queuePair().query().timeout()).isEqualTo(12);
                assertThat(here.queuePair().query().address().route().orElseThrow().trafficClass())
                        .isEqualTo(0x20);
            }
        }
        var nowhere = options().localAddress(new InetSocketAddress("192.0.2.1", 0));
        assertThatThrownBy(() ->
                        connections.connect(listener.localAddress(), domain, nowhere, PATIENCE))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("192.0.2.1");
        try (var route = connections.resolve(listener.localAddress(), PATIENCE)) {
            for (var late : List.of(options().typeOfService(1), nowhere)) {
                assertThatThrownBy(() -> route.connect(domain, late, PATIENCE))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(route + " has its source");
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
        Waits.start(Thread.ofVirtual(), () -> listener.next(PATIENCE), failure).interrupt();

        assertThat(get(failure)).isInstanceOf(InterruptedIOException.class);
    }

    @Test
    void shouldLeaveNothingBehindWhenPreparationFails() throws Exception {
        assertThatThrownBy(() ->
                        connections.connect(
                                listener.localAddress(),
                                domain,
                                options()
                                        .prepared(_ -> {
                                            throw new IOException("no more memory");
                                        }),
                                PATIENCE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no more memory");

        assertThat(listenerHears()).isFalse();
    }

    private boolean listenerHears() throws IOException {
        try (var _ = listener.next(SHORT)) {
            return true;
        } catch (FabricTimeoutException e) {
            return false;
        }
    }

    @Test
    void shouldServeAHundredConnectionsFromVirtualThreads() throws Exception {
        var count = isWarp() ? 20 : 100; // siw's provider has no more than some queue pairs
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
                        try (var connection = listener.accept(domain, options, PATIENCE)) {
                            var bytes = received.get().await(PATIENCE).bytes();
                            connection.awaitDisconnected(PATIENCE);
                            return bytes;
                        }
                    }));
            clients.add(
                    start(() -> {
                        try (var connection =
                                connections.connect(
                                        listener.localAddress(), domain, options(), PATIENCE)) {
                            connection.queuePair().send(memory.slice(1000, 8)).await(PATIENCE);
                            connection.disconnect(PATIENCE);
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
                                new InetSocketAddress(address, 0), domain, options(), PATIENCE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("port 0");
        assertThat(objects()).isEqualTo(objects);
    }

    @Test
    void shouldLeaveNothingBehindAfterFailures() throws Exception {
        var objects = objects();
        fail(10); // what is made once
        awaitObjects(objects);
        var descriptors = descriptors();

        fail(1_000);

        awaitObjects(objects);
        assertThat(descriptors()).isEqualTo(descriptors);
    }

    /**
     * On iWARP a queue pair is closed a little after the attempt to connect it has failed; and who
     * was cancelled at the start may make what it closes at once.
     */
    private void awaitObjects(List<String> expected) throws InterruptedException {
        var deadline = Deadline.after(PATIENCE);
        var found = objects();
        while (!found.equals(expected) && !deadline.hasPassed()) {
            Thread.sleep(1);
            found = objects();
        }
        assertThat(found).isEqualTo(expected);
    }

    /** What has been made of the device and for connections, and is open. */
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
     * Dropped, refused, without a preparation, to where nobody listens, given up, closed by another
     * thread, to where no way leads.
     */
    private void fail(int times) throws Exception {
        for (var time = 0; time < times; time++) {
            switch (time % 7) {
                case 0, 1 -> {
                    var connecting = connecting();
                    try (var request = listener.next(PATIENCE)) {
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
                                                PATIENCE))
                                .hasMessageContaining("no memory");
                case 3 ->
                        assertThatThrownBy(() ->
                                        connections.connect(
                                                new InetSocketAddress(address, 1),
                                                domain,
                                                options(),
                                                PATIENCE))
                                .isInstanceOf(VerbsException.class);
                case 4 -> {
                    assertThatThrownBy(() ->
                                    connections.connect(
                                            listener.localAddress(),
                                            domain,
                                            options(),
                                            Duration.ofMillis(20)))
                            .isInstanceOf(FabricTimeoutException.class);
                    listenerHears();
                }
                case 5 -> {
                    var route = connections.resolve(listener.localAddress(), PATIENCE);
                    var connecting = start(() -> route.connect(domain, options(), PATIENCE));
                    try (var _ = listener.next(PATIENCE)) {
                        route.close();
                        assertThat(failureOf(connecting)).isInstanceOf(IllegalStateException.class);
                    }
                }
                default ->
                        assertThatThrownBy(() ->
                                        connections.resolve(
                                                new InetSocketAddress("192.0.2.1", 7), PATIENCE))
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
