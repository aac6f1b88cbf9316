package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionEvent.AddressError;
import org.jrdma.verbs.cm.ConnectionEvent.AddressResolved;
import org.jrdma.verbs.cm.ConnectionEvent.ConnectRequest;
import org.jrdma.verbs.cm.ConnectionEvent.ConnectResponse;
import org.jrdma.verbs.cm.ConnectionEvent.DatagramEstablished;
import org.jrdma.verbs.cm.ConnectionEvent.DatagramRequest;
import org.jrdma.verbs.cm.ConnectionEvent.Disconnected;
import org.jrdma.verbs.cm.ConnectionEvent.Established;
import org.jrdma.verbs.cm.ConnectionEvent.Failure;
import org.jrdma.verbs.cm.ConnectionEvent.Rejected;
import org.jrdma.verbs.cm.ConnectionEvent.RouteResolved;
import org.jrdma.verbs.cm.ConnectionEvent.Unreachable;
import org.jrdma.verbs.cm.EventChannel;
import org.jrdma.verbs.cm.Identifier;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.cm.model.RejectReason;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.ConnectionVendorOptions;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the steps of a connection with {@code Identifier} and {@code EventChannel}. One thread runs
 * both sides, because the steps do not block (on iWARP, only {@code rdma_connect} blocks).
 */
class ConnectionStepsTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Fabric fabric = Fabric.underTest();
    private Device device;
    private ProtectionDomain domain;
    private CompletionDispatcher completions;
    private EventChannel here;
    private EventChannel there;
    private InetAddress address;

    @BeforeEach
    void open() throws IOException {
        var connections = fabric.connections();
        here = connections.newEventChannel();
        there = connections.newEventChannel();
        device = fabric.open();
        domain = device.newProtectionDomain();
        completions = device.newCompletionDispatcher(512);
        address = Fabric.address(device);
    }

    @AfterEach
    void close() {
        if (device != null) {
            here.close();
            there.close();
            device.close();
        }
    }

    private static <E extends ConnectionEvent> E await(EventChannel channel, Class<E> type)
            throws IOException {
        var event = channel.next(TIMEOUT);
        assertThat(event).isInstanceOf(type);
        return type.cast(event);
    }

    private boolean isIwarp() {
        return device.description().transportType() == TransportType.IWARP;
    }

    private Identifier listener() throws VerbsException {
        var listener = there.newIdentifier(PortSpace.TCP);
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(8);
        return listener;
    }

    /** Returns an identifier with a resolved route to a peer. */
    private Identifier routed(InetSocketAddress peer) throws IOException {
        var identifier = here.newIdentifier(PortSpace.TCP);
        identifier.resolveAddress(peer, TIMEOUT);
        assertThat(await(here, AddressResolved.class).identifier()).isSameAs(identifier);
        identifier.resolveRoute(TIMEOUT);
        assertThat(await(here, RouteResolved.class).identifier()).isSameAs(identifier);
        return identifier;
    }

    /** Creates a queue pair in state INIT, to which receives can be posted. */
    private AsyncQueuePair queuePair(Identifier identifier) throws VerbsException {
        var queuePair =
                domain.newQueuePair(QueuePairOptions.reliable(completions).sends(4).receives(4));
        queuePair.modify(identifier.queuePairChange(QueuePairState.INIT));
        return queuePair;
    }

    private static void modifyToReadyToSend(Identifier identifier, AsyncQueuePair queuePair)
            throws VerbsException {
        for (var state :
                List.of(
                        QueuePairState.INIT,
                        QueuePairState.READY_TO_RECEIVE,
                        QueuePairState.READY_TO_SEND)) {
            queuePair.modify(identifier.queuePairChange(state));
        }
    }

    private static ConnectionParameters parameters(AsyncQueuePair queuePair) {
        return ConnectionParameters.of(queuePair.number(), 1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Asserts that private data starts with the text. The length is not compared, because some
     * fabrics pad private data.
     */
    private static void assertStartsWith(PrivateData data, String text) {
        assertThat(new String(data.bytes(), StandardCharsets.UTF_8)).startsWith(text);
    }

    @Test
    void shouldConnectStepByStepMoveAMessageAndDisconnect() throws Exception {
        try (var arena = domain.newArena(Pair.ALL)) {
            var memory = arena.region(256);
            var listener = listener();
            var caller = routed(listener.localAddress().orElseThrow());
            var calling = queuePair(caller);
            caller.connect(parameters(calling), bytes("who are you?"));

            var request = await(there, ConnectRequest.class);
            var callee = request.identifier();
            assertThat(request.listener()).isSameAs(listener);
            assertStartsWith(request.privateData(), "who are you?");
            assertThat(callee.peerAddress()).isEqualTo(caller.localAddress());
            var called = queuePair(callee);
            var received = called.receive(memory.slice(128, 128));
            modifyToReadyToSend(callee, called);
            callee.accept(parameters(called), bytes("guess"));

            var reply = here.next(TIMEOUT);
            if (reply instanceof ConnectResponse response) {
                assertStartsWith(response.privateData(), "guess");
                assertThat(response.parameters().queuePairNumber()).isEqualTo(called.number());
                modifyToReadyToSend(caller, calling);
                caller.establish();
            } else {
                assertThat(reply).isInstanceOf(Established.class);
                assertStartsWith(((Established) reply).privateData(), "guess");
            }
            await(there, Established.class);
            calling.query();
            called.query();
            memory.segment().setString(0, "Saluton");
            calling.send(memory.slice(0, 8)).await(TIMEOUT);
            assertThat(received.await(TIMEOUT).bytes()).isEqualTo(8);
            assertThat(memory.segment().getString(128)).isEqualTo("Saluton");

            caller.disconnect();
            await(there, Disconnected.class);
            callee.disconnect();
            await(here, Disconnected.class);
        }
    }

    @Test
    void shouldSendEnhancedConnectionOptionsToThePeer() throws Exception {
        fabric.needs(Feature.ENHANCED_OPTIONS_OF_CONNECTIONS);
        var caller = routed(listener().localAddress().orElseThrow());
        var offered = new ConnectionVendorOptions(0x1234, 7);
        var taken = new ConnectionVendorOptions(0x1234, 5);
        caller.vendorOptions(offered);
        caller.connect(parameters(queuePair(caller)));

        var callee = await(there, ConnectRequest.class).identifier();
        assertThat(callee.peerVendorOptions()).isEqualTo(offered);
        callee.vendorOptions(taken);
        var called = queuePair(callee);
        modifyToReadyToSend(callee, called);
        callee.accept(parameters(called));
        await(here, ConnectResponse.class);
        assertThat(caller.peerVendorOptions()).isEqualTo(taken);
    }

    @Test
    void shouldRejectThePeersEnhancedConnectionOptions() throws Exception {
        fabric.needs(Feature.ENHANCED_OPTIONS_OF_CONNECTIONS);
        var caller = routed(listener().localAddress().orElseThrow());
        assertThat(caller.peerVendorOptions()).isEqualTo(new ConnectionVendorOptions(0, 0));
        caller.vendorOptions(new ConnectionVendorOptions(0x1234, 7));
        caller.connect(parameters(queuePair(caller)));

        await(there, ConnectRequest.class).identifier().rejectVendorOptions(bytes("not seven"));

        var rejected = await(here, Rejected.class);
        assertThat(rejected.rejectReason()).isEqualTo(RejectReason.VENDOR_OPTION_NOT_SUPPORTED);
        assertStartsWith(rejected.privateData(), "not seven");
        var unconnected = here.newIdentifier(PortSpace.TCP);
        assertThatThrownBy(() -> unconnected.vendorOptions(new ConnectionVendorOptions(0, 7)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rdma_set_local_ece");
        assertThatThrownBy(unconnected::rejectVendorOptions)
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rdma_reject_ece");
    }

    @Test
    void shouldDeliverUserDefinedEventsInOrder() throws Exception {
        fabric.needs(Feature.USER_DEFINED_EVENTS);
        var caller = here.newIdentifier(PortSpace.TCP);
        caller.writeEvent(-3, 0x1122_3344_5566_7788L);
        caller.writeEvent(4, -1);
        caller.resolveAddress(listener().localAddress().orElseThrow(), TIMEOUT);

        assertThat(here.next(TIMEOUT))
                .isEqualTo(new ConnectionEvent.UserDefined(caller, -3, 0x1122_3344_5566_7788L));
        assertThat(here.next(TIMEOUT)).isEqualTo(new ConnectionEvent.UserDefined(caller, 4, -1));
        await(here, AddressResolved.class);
    }

    /**
     * The first message of the peer may arrive before the last message of the handshake. The
     * program then passes the event COMMUNICATION_ESTABLISHED of the queue pair to the identifier.
     */
    @Test
    void shouldBeEstablishedWhenItsQueuePairReceivesAMessage() throws Exception {
        if (isIwarp()) {
            throw new Fabric.Listed("iWARP has no last handshake message to overtake");
        }
        var caller = routed(listener().localAddress().orElseThrow());
        caller.connect(parameters(queuePair(caller)));
        var callee = await(there, ConnectRequest.class).identifier();
        var called = queuePair(callee);
        modifyToReadyToSend(callee, called);
        callee.accept(parameters(called));
        await(here, ConnectResponse.class);

        callee.notify(AsyncEventType.COMMUNICATION_ESTABLISHED);

        await(there, Established.class);
    }

    /** One thread and one event channel serve both sides of all connections. */
    @Test
    void shouldConnectManyIdentifiersInOneEventLoop() throws Exception {
        var count = 20;
        var listener = here.newIdentifier(PortSpace.TCP);
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(count);
        var service = listener.localAddress().orElseThrow();
        var queuePairs = new HashMap<Identifier, AsyncQueuePair>();
        for (var number = 0; number < count; number++) {
            here.newIdentifier(PortSpace.TCP).resolveAddress(service, TIMEOUT);
        }
        var established = 0;
        while (established < 2 * count) {
            var event = here.next(TIMEOUT);
            var identifier = event.identifier();
            switch (event) {
                case AddressResolved _ -> identifier.resolveRoute(TIMEOUT);
                case RouteResolved _ -> {
                    var calling = queuePair(identifier);
                    queuePairs.put(identifier, calling);
                    runWithoutBlocking(() -> identifier.connect(parameters(calling)));
                }
                case ConnectRequest _ -> {
                    var called = queuePair(identifier);
                    queuePairs.put(identifier, called);
                    modifyToReadyToSend(identifier, called);
                    identifier.accept(parameters(called));
                }
                case ConnectResponse _ -> {
                    modifyToReadyToSend(identifier, queuePairs.get(identifier));
                    identifier.establish();
                    established++;
                }
                case Established _ -> established++;
                default -> throw new AssertionError(event);
            }
        }
        assertThat(queuePairs).hasSize(2 * count);
    }

    /**
     * Makes a call that ends in {@code rdma_connect}. On iWARP, the call is made on a new thread,
     * because it blocks there until the TCP connection to the listener is established.
     */
    private void runWithoutBlocking(VerbsCall call) throws VerbsException {
        if (!isIwarp()) {
            call.run();
            return;
        }
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    try {
                        call.run();
                    } catch (VerbsException e) {
                        throw new IllegalStateException(e);
                    }
                });
    }

    private interface VerbsCall {
        void run() throws VerbsException;
    }

    @Test
    void shouldResolveTheDestinationOfDatagrams() throws Exception {
        fabric.needs(Feature.DATAGRAMS);
        try (var arena = domain.newArena(Pair.ALL)) {
            var memory = arena.region(512);
            var service = there.newIdentifier(PortSpace.UDP);
            service.bind(new InetSocketAddress(address, 0));
            service.listen(1);
            var caller = here.newIdentifier(PortSpace.UDP);
            caller.resolveAddress(service.localAddress().orElseThrow(), TIMEOUT);
            await(here, AddressResolved.class);
            caller.resolveRoute(TIMEOUT);
            await(here, RouteResolved.class);
            var calling = datagrams(caller);
            caller.connect(ConnectionParameters.of(calling.number(), 0), bytes("where are you?"));

            var request = await(there, DatagramRequest.class);
            assertThat(request.listener()).isSameAs(service);
            assertStartsWith(request.privateData(), "where are you?");
            var called = datagrams(request.identifier());
            var received = called.receive(memory.slice(256, 256));
            request.identifier().accept(ConnectionParameters.of(called.number(), 0), bytes("here"));

            var established = await(here, DatagramEstablished.class);
            assertStartsWith(established.privateData(), "here");
            var parameters = established.parameters();
            assertThat(parameters.queuePairNumber()).isEqualTo(called.number());
            memory.segment().setString(0, "Saluton");
            try (var handle = domain.newAddressHandle(parameters.address())) {
                calling.send(
                                memory.slice(0, 8),
                                new Destination(
                                        handle,
                                        parameters.queuePairNumber(),
                                        parameters.queueKey()))
                        .await(TIMEOUT);
                received.await(TIMEOUT);
            }
            assertThat(memory.segment().getString(256 + GlobalRouteHeader.BYTES))
                    .isEqualTo("Saluton");
        }
    }

    private AsyncDatagramQueuePair datagrams(Identifier identifier) throws VerbsException {
        var queuePair =
                domain.newQueuePair(QueuePairOptions.datagrams(completions).sends(4).receives(4));
        queuePair.modify(identifier.queuePairChange(QueuePairState.INIT));
        queuePair.modify(QueuePairChange.to(QueuePairState.READY_TO_RECEIVE));
        queuePair.modify(QueuePairChange.to(QueuePairState.READY_TO_SEND).sendSequence(0));
        return queuePair;
    }

    @Test
    void shouldReportThatADatagramServiceRejects() throws Exception {
        fabric.needs(Feature.DATAGRAMS);
        var service = there.newIdentifier(PortSpace.UDP);
        service.bind(new InetSocketAddress(address, 0));
        service.listen(1);
        var caller = here.newIdentifier(PortSpace.UDP);
        caller.resolveAddress(service.localAddress().orElseThrow(), TIMEOUT);
        await(here, AddressResolved.class);
        caller.resolveRoute(TIMEOUT);
        await(here, RouteResolved.class);
        caller.connect(ConnectionParameters.of(datagrams(caller).number(), 0));

        await(there, DatagramRequest.class).identifier().reject();

        assertThat(await(here, Unreachable.class).reason())
                .contains("the peer rejected the request: its program rejected the request");
    }

    @Test
    void shouldReportDeviceAddressesAndPaths() throws Exception {
        var listener = listener();
        assertThat(listener.localAddress().orElseThrow().getAddress()).isEqualTo(address);
        assertThat(listener.peerAddress()).isEmpty();
        var unused = here.newIdentifier(PortSpace.TCP);
        assertThat(unused.deviceName()).isEmpty();
        assertThat(unused.devicePort()).isEmpty();
        assertThat(unused.paths()).isEmpty();

        var caller = routed(listener.localAddress().orElseThrow());

        assertThat(caller.deviceName()).hasValue(device.name());
        assertThat(caller.devicePort()).hasValue(1);
        assertThat(caller.peerAddress()).isEqualTo(listener.localAddress());
        if (!isIwarp()) {
            assertThat(caller.paths())
                    .singleElement()
                    .satisfies(path ->
                            assertThat(device.gids(1))
                                    .anyMatch(row -> row.gid().equals(path.source())));
        }
    }

    @Test
    void shouldReportThePeersRejectionWithItsReasonAndPrivateData() throws Exception {
        var caller = routed(listener().localAddress().orElseThrow());
        caller.connect(parameters(queuePair(caller)));
        var request = await(there, ConnectRequest.class);

        request.identifier().reject(bytes("not today"));

        var rejected = await(here, Rejected.class);
        assertThat(rejected.identifier()).isSameAs(caller);
        assertThat(rejected.rejectReason())
                .isEqualTo(isIwarp() ? RejectReason.RESET : RejectReason.CONSUMER);
        assertThat(rejected.reason())
                .contains("the peer rejected the request: its program rejected the request");
        assertStartsWith(rejected.privateData(), "not today");
    }

    @Test
    void shouldBeRejectedWithoutAListener() throws Exception {
        var listener = listener();
        var closedAddress = listener.localAddress().orElseThrow();
        listener.close();
        var caller = routed(closedAddress);
        var parameters = parameters(queuePair(caller));

        if (isIwarp()) {
            assertThatThrownBy(() -> caller.connect(parameters))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("rdma_connect")
                    .hasMessageContaining(AddressText.of(closedAddress))
                    .hasMessageContaining(Errno.describe(Errno.ECONNREFUSED));
        } else {
            caller.connect(parameters);
            assertThat(await(here, Rejected.class).rejectReason())
                    .isEqualTo(RejectReason.NO_LISTENER);
        }
    }

    /**
     * The address 192.0.2.1 is reserved for documentation, so no host has it. Some fabrics report
     * the failure with an exception, others with an event.
     */
    @Test
    void shouldFailToResolveAnUnreachableAddress() throws Exception {
        var caller = here.newIdentifier(PortSpace.TCP);
        var unreachable = new InetSocketAddress("192.0.2.1", 7);

        Throwable failure = null;
        try {
            caller.resolveAddress(unreachable, Duration.ofSeconds(1));
        } catch (VerbsException e) {
            failure = e;
        }

        if (failure == null) {
            assertThat(await(here, AddressError.class).reason()).contains("(");
        } else {
            assertThat(failure).hasMessageContaining(AddressText.of(unreachable));
        }
    }

    @Test
    void shouldRefuseStepsThatNeedADevice() throws Exception {
        var caller = here.newIdentifier(PortSpace.TCP);
        var parameters = new ConnectionParameters(1, false, 1, 1, 7, 7);

        for (var step :
                List.<ThrowingCallable>of(
                        () -> caller.resolveRoute(TIMEOUT),
                        () -> caller.connect(parameters),
                        () -> caller.accept(parameters),
                        caller::disconnect)) {
            assertThatThrownBy(step)
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining(caller.toString())
                    .hasMessageContaining("Resolve an address first");
        }
        assertThatThrownBy(() -> caller.queuePairChange(QueuePairState.READY_TO_RECEIVE))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rdma_init_qp_attr");
        assertThatThrownBy(caller::establish).isInstanceOf(VerbsException.class);
        assertThatThrownBy(caller::reject).isInstanceOf(VerbsException.class);
    }

    @Test
    void shouldRejectMorePrivateDataThanAMessageCanCarry() throws Exception {
        var caller = routed(listener().localAddress().orElseThrow());
        var parameters = parameters(queuePair(caller));
        var most = isIwarp() ? 248 : 56;

        assertThatThrownBy(() -> caller.connect(parameters, new byte[most + 1]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the maximum is %d".formatted(most));
        caller.connect(parameters, new byte[most]);

        assertThat(await(there, ConnectRequest.class).privateData().length()).isEqualTo(most);
    }

    @Test
    void shouldSendAsMuchPrivateDataAsARejectionCanCarry() throws Exception {
        var caller = routed(listener().localAddress().orElseThrow());
        caller.connect(parameters(queuePair(caller)));
        var callee = await(there, ConnectRequest.class).identifier();
        var data = new byte[isIwarp() ? 248 : 148];
        Arrays.fill(data, (byte) 0x5a);

        assertThatThrownBy(() -> callee.reject(new byte[data.length + 1]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the maximum is %d".formatted(data.length));
        callee.reject(data);

        assertThat(await(here, Rejected.class).privateData().bytes()).isEqualTo(data);
    }

    @Test
    void shouldSendAsMuchPrivateDataAsAReplyCanCarry() throws Exception {
        var caller = routed(listener().localAddress().orElseThrow());
        caller.connect(parameters(queuePair(caller)));
        var callee = await(there, ConnectRequest.class).identifier();
        var called = queuePair(callee);
        modifyToReadyToSend(callee, called);
        var data = new byte[isIwarp() ? 248 : 196];
        Arrays.fill(data, (byte) 0x5a);

        assertThatThrownBy(() -> callee.accept(parameters(called), new byte[data.length + 1]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the maximum is %d".formatted(data.length));
        callee.accept(parameters(called), data);

        var reply = here.next(TIMEOUT);
        assertThat(
                        reply instanceof ConnectResponse response
                                ? response.privateData().bytes()
                                : ((Established) reply).privateData().bytes())
                .isEqualTo(data);
    }

    @Test
    void shouldRejectAPortInUse() throws Exception {
        var taken = listener().localAddress().orElseThrow();
        var second = there.newIdentifier(PortSpace.TCP);

        assertThatThrownBy(() -> second.bind(taken))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rdma_bind_addr failed for " + AddressText.of(taken))
                .hasMessageContaining(Errno.describe(Errno.EADDRINUSE))
                .hasMessageContaining("reuseAddress");
        assertThatThrownBy(() -> second.bind(InetSocketAddress.createUnresolved("no.such.host", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no.such.host");
    }

    @Test
    void shouldAcceptOptionsInRangeAndRejectOthers() throws Exception {
        var caller = here.newIdentifier(PortSpace.TCP);

        caller.typeOfService(0x20);
        caller.reuseAddress(true);
        caller.addressFamilyOnly(true);
        caller.acknowledgeTimeout(Duration.ofMillis(67));

        assertThatThrownBy(() -> caller.typeOfService(256))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> caller.acknowledgeTimeout(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldContinueOnTheEventChannelItMigratedTo() throws Exception {
        var caller = here.newIdentifier(PortSpace.TCP);
        caller.resolveAddress(listener().localAddress().orElseThrow(), TIMEOUT);
        await(here, AddressResolved.class);
        try (var target = fabric.connections().newEventChannel()) {
            var moved = caller.migrateTo(target);

            assertThat(caller.isOpen()).isFalse();
            moved.resolveRoute(TIMEOUT);
            assertThat(await(target, RouteResolved.class).identifier()).isSameAs(moved);
            here.close();
            assertThat(moved.deviceName()).hasValue(device.name());
        }
    }

    @Test
    void shouldDropARequestToAListenerThatIsClosedAndRefuseThePeer() throws Exception {
        var listener = listener();
        var caller = routed(listener.localAddress().orElseThrow());
        caller.connect(parameters(queuePair(caller)));
        listener.close();

        // The driver siw reports the failure only after its timeout of ten seconds.
        assertThat(here.next(TIMEOUT.multipliedBy(2))).isInstanceOf(Failure.class);
        assertThatThrownBy(() -> there.next(Duration.ofMillis(50)))
                .isInstanceOf(FabricTimeoutException.class);
    }

    @Test
    void shouldCloseWhileEventsArePending() throws Exception {
        var caller = routed(listener().localAddress().orElseThrow());
        caller.connect(parameters(queuePair(caller)));
        await(there, ConnectRequest.class);

        CompletableFuture.runAsync(
                        () -> {
                            there.close();
                            here.close();
                        })
                .get(10, TimeUnit.SECONDS);

        assertThatThrownBy(caller::localAddress)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(caller.toString());
    }

    @Test
    void shouldRejectANotificationWithoutAQueuePair() throws Exception {
        var caller = here.newIdentifier(PortSpace.TCP);

        assertThatThrownBy(() -> caller.notify(AsyncEventType.COMMUNICATION_ESTABLISHED))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rdma_notify");
    }

    @Test
    void shouldStopWaitingWhenTheTimeoutExpires() {
        assertThatThrownBy(() -> here.next(Duration.ofMillis(30)))
                .isInstanceOf(FabricTimeoutException.class)
                .hasMessageContaining(here.toString());
    }

    @Test
    void shouldStopWaitingWhenInterrupted() throws Exception {
        var failure = new CompletableFuture<Throwable>();
        startWaiting(failure).interrupt();

        assertThat(failure.get(10, TimeUnit.SECONDS)).isInstanceOf(InterruptedIOException.class);
    }

    @Test
    void shouldStopWaitingWhenClosed() throws Exception {
        var failure = new CompletableFuture<Throwable>();
        startWaiting(failure);

        here.close();

        assertThat(failure.get(10, TimeUnit.SECONDS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(here.toString())
                .hasMessageContaining("closed");
    }

    private Thread startWaiting(CompletableFuture<Throwable> failure) throws InterruptedException {
        return BackgroundCalls.start(Thread.ofVirtual(), () -> here.next(TIMEOUT), failure);
    }
}
