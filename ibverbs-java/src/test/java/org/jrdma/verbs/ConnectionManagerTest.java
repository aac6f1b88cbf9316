package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_addr;
import org.jrdma.abi.rdma.rdma_cm_event;
import org.jrdma.abi.rdma.rdma_cm_id;
import org.jrdma.abi.rdma.rdma_conn_param;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.rdma_route;
import org.jrdma.abi.rdma.sockaddr_in;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.ListenerClosedException;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the blocking calls of the connection manager against a fake library. The conformance kit
 * tests the same calls with a peer.
 */
@Timeout(30)
class ConnectionManagerTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final InetSocketAddress PEER =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471);

    private FakeLibrary library;
    private ConnectionManager connections;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary();
        connections = ConnectionManager.from(library);
    }

    private static MemorySegment event(int type, int status, MemorySegment identifier) {
        var event = rdma_cm_event.allocate(Arena.global());
        rdma_cm_event.event(event, type);
        rdma_cm_event.status(event, status);
        rdma_cm_event.id(event, identifier);
        return event;
    }

    @Test
    void shouldRejectAnAddressInfoWithoutAnAddress() throws Exception {
        var info =
                new AddressInfo(
                        QueuePairType.RELIABLE_CONNECTION,
                        PortSpace.TCP,
                        Optional.empty(),
                        Optional.empty());
        var channel = connections.newEventChannel();

        for (var call :
                List.<ThrowingCallable>of(
                        () -> channel.newIdentifier(info), () -> connections.listen(info, 1))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(call)
                    .withMessageContaining(
                            "it has neither a local address nor an address of a peer");
        }
        assertThatIllegalArgumentException().isThrownBy(() -> connections.resolve(info, TIMEOUT));
        assertThat(library.calls).doesNotContain("rdma_create_ep");
        channel.close();
    }

    @Test
    void shouldReportTheAddressOfAFailureAndLeaveNothingOpen() {
        library.onCall(
                "rdma_resolve_addr",
                arguments ->
                        library.deliver(
                                event(
                                        rdma_h.RDMA_CM_EVENT_ADDR_ERROR(),
                                        -Errno.ENODEV,
                                        (MemorySegment) arguments[0])));

        assertThatExceptionOfType(CmException.class)
                .isThrownBy(() -> connections.resolve(PEER, TIMEOUT))
                .withMessageContaining("Cannot resolve the address " + AddressText.of(PEER))
                .withMessageContaining(
                        "no RDMA device can reach the address: ENODEV (19). Use \"rdma link\"")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.ENODEV))
                .satisfies(e -> assertThat(e.function()).isEqualTo("rdma_resolve_addr"))
                .satisfies(e -> assertThat(e.event()).isPresent());

        // The polling thread may still call rdma_get_cm_event.
        assertThat(library.calls).containsOnlyOnce("rdma_create_id", "rdma_destroy_id");
    }

    @Test
    void shouldTimeOutAndLeaveNothingOpen() {
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> connections.resolve(PEER, Duration.ofMillis(20)))
                .withMessageContaining(
                        "The address " + AddressText.of(PEER) + " was not resolved within");

        assertThat(library.calls).endsWith("rdma_destroy_id");
    }

    @Test
    void shouldStopWhenItsFutureIsCanceled() throws Exception {
        var called = new CountDownLatch(1);
        library.onCall("rdma_resolve_addr", _ -> called.countDown());
        var destroyed = new CountDownLatch(1);
        library.onCall("rdma_destroy_id", _ -> destroyed.countDown());
        var resolving = connections.resolveAsync(PEER, Duration.ofDays(1));
        called.await();

        resolving.cancel(true);

        assertThat(destroyed.await(10, TimeUnit.SECONDS)).isTrue();
    }

    private static MemorySegment identifierAt(Object argument) {
        return FakeLibrary.memory(argument, rdma_cm_id.layout().byteSize());
    }

    private static MemorySegment local(MemorySegment identifier) {
        return rdma_addr.src_storage(rdma_route.addr(rdma_cm_id.route(identifier)));
    }

    private static MemorySegment peer(MemorySegment identifier) {
        return rdma_addr.dst_storage(rdma_route.addr(rdma_cm_id.route(identifier)));
    }

    private static MemorySegment addressAt(Object argument) {
        return FakeLibrary.memory(argument, sockaddr_in.layout().byteSize());
    }

    /**
     * Makes {@code rdma_bind_addr} set the local address. Returns an array in which the call stores
     * the identifier of the listener.
     */
    private MemorySegment[] recordListener() {
        var identifier = new MemorySegment[1];
        library.onCall(
                "rdma_bind_addr",
                arguments -> {
                    identifier[0] = identifierAt(arguments[0]);
                    local(identifier[0]).copyFrom(addressAt(arguments[1]));
                });
        return identifier;
    }

    private void deliverRequest(MemorySegment listener) {
        var identifier = rdma_cm_id.allocate(Arena.global());
        peer(identifier).copyFrom(local(listener));
        var request = event(rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(), 0, identifier);
        rdma_cm_event.listen_id(request, listener);
        library.deliver(request);
    }

    /**
     * Simulates a peer that accepts the connection. Returns an array in which {@code
     * rdma_resolve_addr} stores the identifier of the connection.
     */
    private MemorySegment[] acceptingPeer() {
        var identifier = new MemorySegment[1];
        ibv_context.device(library.context(), library.device());
        library.onCall(
                        "rdma_resolve_addr",
                        arguments -> {
                            identifier[0] = identifierAt(arguments[0]);
                            local(identifier[0]).copyFrom(addressAt(arguments[2]));
                            peer(identifier[0]).copyFrom(addressAt(arguments[2]));
                            rdma_cm_id.verbs(identifier[0], library.context());
                            rdma_cm_id.port_num(identifier[0], (byte) 1);
                            rdma_cm_id.qp_type(identifier[0], rdma_h.IBV_QPT_RC());
                            deliver(rdma_h.RDMA_CM_EVENT_ADDR_CHANGE(), 0, identifier[0]);
                            deliver(rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED(), 0, identifier[0]);
                        })
                .onCall(
                        "rdma_resolve_route",
                        _ -> deliver(rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(), 0, identifier[0]))
                .onCall(
                        "rdma_connect",
                        _ -> deliver(rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(), 0, identifier[0]))
                .onCall(
                        "rdma_init_qp_attr",
                        arguments -> fillAttributes(arguments[1], arguments[2]));
        return identifier;
    }

    /**
     * Sets the attributes that the transition to each state requires, as {@code rdma_init_qp_attr}
     * does.
     */
    private static void fillAttributes(Object attributes, Object mask) {
        var attr = FakeLibrary.memory(attributes, ibv_qp_attr.layout().byteSize());
        var state = ibv_qp_attr.qp_state(attr);
        ibv_qp_attr.port_num(attr, (byte) 1);
        ibv_qp_attr.path_mtu(attr, rdma_h.IBV_MTU_1024());
        var required =
                state == rdma_h.IBV_QPS_INIT()
                        ? rdma_h.IBV_QP_PKEY_INDEX()
                                | rdma_h.IBV_QP_PORT()
                                | rdma_h.IBV_QP_ACCESS_FLAGS()
                        : state == rdma_h.IBV_QPS_RTR()
                                ? rdma_h.IBV_QP_AV()
                                        | rdma_h.IBV_QP_PATH_MTU()
                                        | rdma_h.IBV_QP_DEST_QPN()
                                        | rdma_h.IBV_QP_RQ_PSN()
                                        | rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC()
                                        | rdma_h.IBV_QP_MIN_RNR_TIMER()
                                : rdma_h.IBV_QP_TIMEOUT()
                                        | rdma_h.IBV_QP_RETRY_CNT()
                                        | rdma_h.IBV_QP_RNR_RETRY()
                                        | rdma_h.IBV_QP_SQ_PSN()
                                        | rdma_h.IBV_QP_MAX_QP_RD_ATOMIC();
        FakeLibrary.memory(mask, Integer.BYTES)
                .set(ValueLayout.JAVA_INT, 0, rdma_h.IBV_QP_STATE() | required);
    }

    private void deliver(int type, int status, MemorySegment identifier) {
        library.deliver(event(type, status, identifier));
    }

    private static ConnectionOptions<PolledQueuePair> options(Device device) throws VerbsException {
        return ConnectionOptions.of(QueuePairOptions.reliable(device.newCompletionQueue(16)));
    }

    /**
     * A peer rejects an established connection if it has not received the confirmation and has
     * timed out.
     */
    @Test
    void shouldEndAConnectionThatIsRejectedAfterItWasEstablished() throws Exception {
        var identifier = acceptingPeer();
        try (var device = Verbs.from(library).open(FakeLibrary.DEVICE);
                var connection =
                        connections.connect(
                                PEER, device.newProtectionDomain(), options(device), TIMEOUT)) {
            var changes = Collections.frequency(library.calls, "ibv_modify_qp");

            deliver(rdma_h.RDMA_CM_EVENT_REJECTED(), 28, identifier[0]);

            connection.awaitDisconnected(TIMEOUT);
            assertThat(library.calls).contains("rdma_disconnect");
            assertThat(Collections.frequency(library.calls, "ibv_modify_qp"))
                    .as("one change that flushes the queue pair")
                    .isEqualTo(changes + 1);
        }
    }

    @Test
    void shouldKeepAConnectionOpenWhenItsRouteIsClosed() throws Exception {
        acceptingPeer();
        var route = connections.resolve(PEER, TIMEOUT);
        try (var device = Verbs.from(library).open(FakeLibrary.DEVICE)) {
            var connection = route.connect(device.newProtectionDomain(), options(device), TIMEOUT);

            route.close();

            assertThat(connection.identifier().isOpen()).isTrue();
            assertThat(connection.disconnected()).isNotDone();
            assertThat(route).hasToString("route to 127.0.0.1:7471 through fake0");
            var changes = Collections.frequency(library.calls, "ibv_modify_qp");
            connection.identifier().close();
            assertThatIllegalStateException()
                    .isThrownBy(() -> connection.awaitDisconnected(TIMEOUT))
                    .withMessageContaining("is closed");
            assertThat(Collections.frequency(library.calls, "ibv_modify_qp"))
                    .as("one change that flushes the queue pair")
                    .isEqualTo(changes + 1);
            connection.close();
        }
        assertThat(connections.openIdentifiers()).isEmpty();
    }

    @Test
    void shouldReportAPeerThatHasTimedOutOrWithdrawnItsRequest() throws Exception {
        var identifier = acceptingPeer();
        library.answer("rdma_establish", -1, Errno.EINVAL)
                .onCall(
                        "rdma_establish",
                        _ -> deliver(rdma_h.RDMA_CM_EVENT_REJECTED(), 28, identifier[0]));
        try (var device = Verbs.from(library).open(FakeLibrary.DEVICE)) {
            var domain = device.newProtectionDomain();
            assertThatExceptionOfType(CmException.class)
                    .isThrownBy(() -> connections.connect(PEER, domain, options(device), TIMEOUT))
                    .withMessageContaining("its program rejected the request")
                    .satisfies(e -> assertThat(e.event()).isPresent())
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));

            library.onCall("rdma_establish", _ -> {});
            assertThatExceptionOfType(CmException.class)
                    .isThrownBy(() -> connections.connect(PEER, domain, options(device), TIMEOUT))
                    .withMessageContaining(
                            "the peer has probably timed out or withdrawn its request: rdma_establish")
                    .satisfies(e -> assertThat(e.event()).isEmpty())
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EINVAL));

            library.answer("rdma_establish", -1, Errno.ENOMEM);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> connections.connect(PEER, domain, options(device), TIMEOUT))
                    .isNotInstanceOf(CmException.class)
                    .withMessageContaining("ENOMEM");
        }
        assertThat(connections.openIdentifiers()).isEmpty();
    }

    @Test
    void shouldPassTheNumbersOfRetries() throws Exception {
        var identifier = acceptingPeer();
        var retryCounts = new int[2];
        library.onCall(
                "rdma_connect",
                arguments -> {
                    var parameters =
                            FakeLibrary.memory(arguments[1], rdma_conn_param.layout().byteSize());
                    retryCounts[0] = rdma_conn_param.retry_count(parameters);
                    retryCounts[1] = rdma_conn_param.rnr_retry_count(parameters);
                    deliver(rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(), 0, identifier[0]);
                });
        try (var device = Verbs.from(library).open(FakeLibrary.DEVICE)) {
            var options = options(device).retries(3).receiverNotReadyRetries(0);

            connections.connect(PEER, device.newProtectionDomain(), options, TIMEOUT).close();

            assertThat(retryCounts).containsExactly(3, 0);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.retries(8))
                    .withMessageContaining("Number of retries 8 is not in the range 0 to 7");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.receiverNotReadyRetries(-1));
        }
    }

    @Test
    void shouldPassTheNumbersOfReads() throws Exception {
        var identifier = acceptingPeer();
        var reads = new int[2];
        library.onCall(
                "rdma_connect",
                arguments -> {
                    var parameters =
                            FakeLibrary.memory(arguments[1], rdma_conn_param.layout().byteSize());
                    reads[0] = rdma_conn_param.initiator_depth(parameters);
                    reads[1] = rdma_conn_param.responder_resources(parameters);
                    deliver(rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(), 0, identifier[0]);
                });
        try (var device = Verbs.from(library).open(FakeLibrary.DEVICE)) {
            var options = options(device).maxReads(3).maxDestinationReads(255);

            connections.connect(PEER, device.newProtectionDomain(), options, TIMEOUT).close();

            assertThat(reads).containsExactly(3, 16); // The device supports 16.
            for (var invalid : List.of(-1, 256)) {
                assertThatIllegalArgumentException().isThrownBy(() -> options.maxReads(invalid));
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> options.maxDestinationReads(invalid));
            }
        }
    }

    @Test
    void shouldFailAStepWhoseDeviceIsRemoved() {
        library.onCall(
                "rdma_resolve_addr",
                arguments ->
                        deliver(
                                rdma_h.RDMA_CM_EVENT_DEVICE_REMOVAL(),
                                0,
                                identifierAt(arguments[0])));

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> connections.resolve(PEER, TIMEOUT))
                .withMessageContaining("the device is being removed");
    }

    @Test
    void shouldKeepListeningWhenAnAddressChangesUntilTheDeviceIsRemoved() throws Exception {
        var identifier = recordListener();
        try (var listener = connections.listen(PEER)) {
            deliver(rdma_h.RDMA_CM_EVENT_ADDR_CHANGE(), 0, identifier[0]);
            deliverRequest(identifier[0]);
            listener.next(TIMEOUT).close();

            deliver(rdma_h.RDMA_CM_EVENT_DEVICE_REMOVAL(), 0, identifier[0]);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> listener.next(TIMEOUT))
                    .withMessageContaining("its device is being removed");
            assertThatExceptionOfType(ListenerClosedException.class)
                    .isThrownBy(() -> listener.next(TIMEOUT))
                    .withMessage(listener + " is closed");
        }
    }

    @Test
    void shouldRejectARequestThatCannotMigrate() throws Exception {
        var identifier = recordListener();
        try (var listener = connections.listen(PEER)) {
            library.answer("rdma_migrate_id", -1, Errno.ENOMEM);
            deliverRequest(identifier[0]);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> listener.next(TIMEOUT))
                    .withMessageContaining("rdma_migrate_id");
            assertThat(library.calls).endsWith("rdma_destroy_id");

            library.resetAnswer("rdma_migrate_id");
            deliverRequest(identifier[0]);
            listener.next(TIMEOUT).close();
        }
        assertThat(connections.openIdentifiers()).isEmpty();
    }

    /**
     * The failure of {@code rdma_get_cm_event} can be temporary, for example because of a lack of
     * memory.
     */
    @Test
    void shouldRetryAfterAFailureToTakeAnEvent() throws Exception {
        var times = new AtomicInteger();
        library.onCall(
                "rdma_get_cm_event",
                _ -> {
                    if (times.incrementAndGet() <= 2) {
                        library.answer("rdma_get_cm_event", -1, Errno.ENOMEM);
                    } else {
                        library.resetAnswer("rdma_get_cm_event");
                    }
                });
        acceptingPeer();

        connections.resolve(PEER, TIMEOUT).close();

        assertThat(times).hasValueGreaterThan(2);
    }

    /**
     * If events can no longer be taken, all waits must fail. Otherwise they would time out, and
     * their exceptions would report that the peers do not answer.
     */
    @Test
    @Tag("slow")
    void shouldFailAllWaitsIfNoEventCanBeTakenAndRecoverWithANewChannel() throws Exception {
        library.answer("rdma_get_cm_event", -1, Errno.EBADF);
        acceptingPeer();

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> connections.resolve(PEER, Duration.ofSeconds(25)))
                .withMessageContaining("rdma_get_cm_event")
                .withMessageContaining("EBADF");

        library.resetAnswer("rdma_get_cm_event");
        connections.resolve(PEER, TIMEOUT).close();
        assertThat(Collections.frequency(library.calls, "rdma_create_event_channel")).isEqualTo(2);
    }

    @Test
    void shouldNotTakeTheRequestsInTheBacklogWhenClosed() throws Exception {
        var identifier = recordListener();
        var listener = connections.listen(PEER);
        assertThat(listener.localAddress()).isEqualTo(PEER);
        for (var count = 0; count < 3; count++) {
            deliverRequest(identifier[0]);
        }
        var request = listener.next(TIMEOUT);
        request.close();
        assertThat(request).hasToString("request from 127.0.0.1:7471");

        listener.close();

        // The kernel rejects the other requests when the channel is destroyed.
        assertThat(Collections.frequency(library.calls, "rdma_ack_cm_event")).isEqualTo(1);
        assertThat(library.calls).endsWith("rdma_destroy_id", "rdma_destroy_event_channel");
        assertThat(connections.openIdentifiers()).isEmpty();
        assertThatIllegalStateException()
                .isThrownBy(() -> listener.next(TIMEOUT))
                .withMessageContaining("closed");
    }

    @Test
    void shouldCloseAListenerThatCannotListen() {
        library.answer("rdma_listen", -1, Errno.EINVAL);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> connections.listen(PEER))
                .withMessageContaining("rdma_listen");

        assertThat(library.calls).endsWith("rdma_destroy_id", "rdma_destroy_event_channel");
        assertThat(connections.openIdentifiers()).isEmpty();
    }

    @Test
    void shouldNameTheDependencyOfTheSoftwareFabric() {
        var before = System.getProperty("jrdma.fabric");
        try {
            System.setProperty("jrdma.fabric", "software");
            assertThatExceptionOfType(LibraryNotFoundException.class)
                    .isThrownBy(ConnectionManager::configured)
                    .withMessageContaining("org.jrdma:roce-soft");
            System.setProperty("jrdma.fabric", "hardware");
            assertThatIllegalArgumentException()
                    .isThrownBy(ConnectionManager::configured)
                    .withMessageContaining("hardware");
        } finally {
            if (before == null) {
                System.clearProperty("jrdma.fabric");
            } else {
                System.setProperty("jrdma.fabric", before);
            }
        }
    }
}
