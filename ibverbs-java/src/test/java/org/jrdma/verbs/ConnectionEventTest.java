package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.abi.rdma.ibv_context;
import org.jrdma.abi.rdma.rdma_addr;
import org.jrdma.abi.rdma.rdma_addrinfo;
import org.jrdma.abi.rdma.rdma_cm_event;
import org.jrdma.abi.rdma.rdma_cm_id;
import org.jrdma.abi.rdma.rdma_conn_param;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.rdma_route;
import org.jrdma.abi.rdma.rdma_ud_param;
import org.jrdma.abi.rdma.sockaddr_in6;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.EventChannel;
import org.jrdma.verbs.cm.Identifier;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.AddressQuery;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.MulticastRole;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.cm.model.RejectReason;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.ConnectionVendorOptions;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the translation of librdmacm events and the calls on an rdma_cm_id. */
@Timeout(30)
class ConnectionEventTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final ConnectionParameters PARAMETERS =
            new ConnectionParameters(FakeLibrary.NUMBER, false, 1, 1, 7, 7);

    private FakeLibrary library;
    private EventChannel channel;
    private Identifier identifier;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary();
        channel = ConnectionManager.from(library).newEventChannel();
        identifier = channel.newIdentifier(PortSpace.TCP);
    }

    @AfterEach
    void close() {
        channel.close();
    }

    private static MemorySegment event(int type, int status, MemorySegment identifier) {
        var event = rdma_cm_event.allocate(Arena.global());
        rdma_cm_event.event(event, type);
        rdma_cm_event.status(event, status);
        rdma_cm_event.id(event, identifier);
        return event;
    }

    private ConnectionEvent translated(int type, int status) throws Exception {
        library.deliver(event(type, status, identifier.address()));
        return channel.next(TIMEOUT);
    }

    static Stream<Arguments> failures() {
        return Stream.of(
                arguments(
                        rdma_h.RDMA_CM_EVENT_ADDR_ERROR(),
                        -Errno.ENODEV,
                        "no RDMA device can reach the address: ENODEV (19)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_ADDR_ERROR(),
                        -Errno.ETIMEDOUT,
                        "no host answers to the address: ETIMEDOUT (110)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_ROUTE_ERROR(),
                        -Errno.EHOSTUNREACH,
                        "no route was found: EHOSTUNREACH (113)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR(),
                        Errno.ENOENT,
                        "the lookup failed: ENOENT (2)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_UNREACHABLE(),
                        -Errno.ETIMEDOUT,
                        "the peer does not answer: ETIMEDOUT (110)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_UNREACHABLE(),
                        3,
                        "the peer rejected the request: it has no queue pair for the service (3)"),
                arguments(rdma_h.RDMA_CM_EVENT_CONNECT_ERROR(), -Errno.EPROTO, "EPROTO (71)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_REJECTED(),
                        8,
                        "the peer rejected the request: no program listens at that port"
                                + " (NO_LISTENER, 8)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_REJECTED(),
                        -Errno.ECONNREFUSED,
                        "the peer rejected the request: its program rejected the request (CONSUMER,"
                                + " -111)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_REJECTED(),
                        99,
                        "the peer rejected the request: the reason is unknown (UNKNOWN, 99)"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void shouldDescribeFailures(int type, int status, String reason) throws Exception {
        assertThat(translated(type, status))
                .isInstanceOfSatisfying(
                        ConnectionEvent.Failure.class,
                        failure -> {
                            assertThat(failure.identifier()).isSameAs(identifier);
                            assertThat(failure.reason()).isEqualTo(reason);
                        });
    }

    static Stream<Arguments> eventTypes() {
        return Stream.of(
                arguments(
                        rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED(),
                        ConnectionEvent.AddressResolved.class),
                arguments(
                        rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(), ConnectionEvent.RouteResolved.class),
                arguments(rdma_h.RDMA_CM_EVENT_DISCONNECTED(), ConnectionEvent.Disconnected.class),
                arguments(
                        rdma_h.RDMA_CM_EVENT_DEVICE_REMOVAL(), ConnectionEvent.DeviceRemoved.class),
                arguments(rdma_h.RDMA_CM_EVENT_ADDR_CHANGE(), ConnectionEvent.AddressChanged.class),
                arguments(rdma_h.RDMA_CM_EVENT_TIMEWAIT_EXIT(), ConnectionEvent.TimeWaitExit.class),
                arguments(4711, ConnectionEvent.Other.class));
    }

    @ParameterizedTest
    @MethodSource("eventTypes")
    void shouldTranslateEventTypes(int type, Class<?> kind) throws Exception {
        var event = translated(type, 0);

        assertThat(event).isExactlyInstanceOf(kind);
        assertThat(event.identifier()).isSameAs(identifier);
    }

    @Test
    void shouldCopyAndAcknowledgeAnEventWhenItIsTaken() throws Exception {
        var event = event(rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(), 0, identifier.address());
        var data = Arena.global().allocateFrom("guess");
        var parameters = rdma_cm_event.param.conn(rdma_cm_event.param(event));
        rdma_conn_param.private_data(parameters, data);
        rdma_conn_param.private_data_len(parameters, (byte) 6);
        rdma_conn_param.qp_num(parameters, 0x77);
        rdma_conn_param.responder_resources(parameters, (byte) 200);
        rdma_conn_param.initiator_depth(parameters, (byte) 3);
        rdma_conn_param.srq(parameters, (byte) 1);
        library.deliver(event);

        var response = (ConnectionEvent.ConnectResponse) channel.next(TIMEOUT);
        data.fill((byte) 0); // Simulates freed memory.

        assertThat(response.privateData())
                .isEqualTo(
                        PrivateData.of(
                                (byte) 'g',
                                (byte) 'u',
                                (byte) 'e',
                                (byte) 's',
                                (byte) 's',
                                (byte) 0));
        assertThat(response.parameters())
                .isEqualTo(new ConnectionParameters(0x77, true, 200, 3, 0, 0));
        assertThat(library.calls).endsWith("rdma_get_cm_event", "rdma_ack_cm_event");
    }

    @Test
    void shouldTranslateTheDestinationOfDatagrams() throws Exception {
        rdma_cm_id.qp_type(identifier.address(), rdma_h.IBV_QPT_UD());
        var event = event(rdma_h.RDMA_CM_EVENT_ESTABLISHED(), 0, identifier.address());
        var parameters = rdma_cm_event.param.ud(rdma_cm_event.param(event));
        rdma_ud_param.qp_num(parameters, 0x55);
        rdma_ud_param.qkey(parameters, 0x1234567);
        library.deliver(event);

        var established = (ConnectionEvent.DatagramEstablished) channel.next(TIMEOUT);

        assertThat(established.parameters().queuePairNumber()).isEqualTo(0x55);
        assertThat(established.parameters().queueKey()).isEqualTo(0x1234567);
        assertThat(established.parameters().address().route()).isEmpty();
    }

    @Test
    void shouldCreateAnIdentifierForARequest() throws Exception {
        var newIdentifier = rdma_cm_id.allocate(Arena.global());
        var event = event(rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(), 0, newIdentifier);
        rdma_cm_event.listen_id(event, identifier.address());
        library.deliver(event);

        var request = (ConnectionEvent.ConnectRequest) channel.next(TIMEOUT);

        assertThat(request.listener()).isSameAs(identifier);
        assertThat(request.identifier().address().address()).isEqualTo(newIdentifier.address());
        channel.close();
        assertThat(request.identifier().isOpen()).isFalse();
        assertThat(Collections.frequency(library.calls, "rdma_destroy_id")).isEqualTo(2);
        assertThat(library.calls).endsWith("rdma_destroy_event_channel");
    }

    @Test
    void shouldRejectRequestsAndDropOtherEventsOfAClosedListener() throws Exception {
        var closed = identifier.address();
        identifier.close();
        var event =
                event(
                        rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(),
                        0,
                        rdma_cm_id.allocate(Arena.global()));
        rdma_cm_event.listen_id(event, closed);
        library.deliver(event);
        library.deliver(event(rdma_h.RDMA_CM_EVENT_DISCONNECTED(), 0, closed));
        identifier = channel.newIdentifier(PortSpace.TCP);

        assertThat(translated(rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED(), 0).identifier())
                .isSameAs(identifier);

        assertThat(Collections.frequency(library.calls, "rdma_destroy_id")).isEqualTo(2);
        assertThat(Collections.frequency(library.calls, "rdma_ack_cm_event")).isEqualTo(3);
    }

    /**
     * As soon as the event of a closed identifier is acknowledged, a new identifier can have the
     * same address.
     */
    @Test
    void shouldNotDeliverAnEventToANewIdentifierAtTheSameAddress() throws Exception {
        var address = identifier.address();
        library.answer("rdma_create_id", 0, 0)
                .onCall(
                        "rdma_create_id",
                        arguments ->
                                FakeLibrary.memory(arguments[1], ValueLayout.ADDRESS.byteSize())
                                        .set(ValueLayout.ADDRESS, 0, address))
                .onCall("rdma_ack_cm_event", _ -> replaceIdentifier());
        var former = identifier;

        var event = translated(rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(), 0);

        assertThat(identifier.address().address()).isEqualTo(address.address());
        assertThat(event.identifier()).isSameAs(former);
    }

    private void replaceIdentifier() {
        try {
            identifier.close();
            identifier = channel.newIdentifier(PortSpace.TCP);
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldReportJoinedGroupsAndLeaveThemOnClose() throws Exception {
        bindToDevice();
        var contexts = new ArrayList<MemorySegment>();
        library.onCall(
                "rdma_join_multicast", arguments -> contexts.add((MemorySegment) arguments[2]));
        var first = InetAddress.ofLiteral("239.1.2.3");
        var second = InetAddress.ofLiteral("ff15::1");
        identifier.joinMulticast(first);
        identifier.joinMulticast(second);
        var joined = event(rdma_h.RDMA_CM_EVENT_MULTICAST_JOIN(), 0, identifier.address());
        var parameters = rdma_cm_event.param.ud(rdma_cm_event.param(joined));
        rdma_ud_param.private_data(parameters, contexts.getFirst()); // Not a pointer.
        rdma_ud_param.private_data_len(parameters, (byte) 8);
        rdma_ud_param.qkey(parameters, 7);
        library.deliver(joined);
        var failed =
                event(
                        rdma_h.RDMA_CM_EVENT_MULTICAST_ERROR(),
                        -Errno.ENETUNREACH,
                        identifier.address());
        rdma_ud_param.private_data(
                rdma_cm_event.param.ud(rdma_cm_event.param(failed)), contexts.getLast());
        library.deliver(failed);

        var event = (ConnectionEvent.MulticastJoined) channel.next(TIMEOUT);
        assertThat(event.group()).isEqualTo(first);
        assertThat(event.parameters().queueKey()).isEqualTo(7);
        var error = (ConnectionEvent.MulticastError) channel.next(TIMEOUT);
        assertThat(error.group()).isEqualTo(second);
        assertThat(error.reason()).isEqualTo("group ff15:0:0:0:0:0:0:1: ENETUNREACH (101)");
        identifier.leaveMulticast(second);
        identifier.close();
        assertThat(Collections.frequency(library.calls, "rdma_leave_multicast")).isEqualTo(2);
        assertThat(library.calls).endsWith("rdma_leave_multicast", "rdma_destroy_id");
    }

    @Test
    void shouldNotLeaveAGroupThatItHasNotJoined() throws Exception {
        var group = InetAddress.ofLiteral("239.1.2.3");
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.joinMulticast(group))
                .withMessageContaining("Resolve an address first");
        bindToDevice();
        library.answer("rdma_join_multicast", -1, Errno.EINVAL)
                .answer("rdma_leave_multicast", -1, Errno.EADDRNOTAVAIL)
                .answer("rdma_join_multicast_ex", -1, Errno.EOPNOTSUPP);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.joinMulticast(group))
                .withMessageContaining("rdma_join_multicast failed for group 239.1.2.3 and ident");
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.joinMulticast(group, MulticastRole.SENDER))
                .withMessageContaining("rdma_join_multicast_ex failed for group 239.1.2.3");
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.leaveMulticast(group))
                .withMessageContaining("EADDRNOTAVAIL");
        identifier.close();

        assertThat(Collections.frequency(library.calls, "rdma_leave_multicast")).isEqualTo(1);
    }

    /** Binds the rdma_cm_id to the fake device. */
    private void bindToDevice() {
        rdma_cm_id.verbs(identifier.address(), library.context());
        ibv_context.device(library.context(), library.device());
    }

    /**
     * On iWARP, {@code rdma_connect} waits for TCP, which can take minutes. Therefore, close() must
     * not wait for the call.
     */
    @Test
    void shouldCloseDuringAConnectCallWhoseThreadThenDestroysTheIdentifier() throws Exception {
        bindToDevice();
        var entered = new CountDownLatch(1);
        var connected = new CountDownLatch(1);
        library.onCall(
                "rdma_connect",
                _ -> {
                    entered.countDown();
                    awaitQuietly(connected);
                });
        var connecting =
                CompletableFuture.runAsync(() -> {
                    try {
                        identifier.connect(PARAMETERS);
                    } catch (VerbsException e) {
                        throw new IllegalStateException(e);
                    }
                });
        entered.await();

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.connect(PARAMETERS))
                .withMessageContaining("another thread");
        channel.close();

        assertThat(library.calls).doesNotContain("rdma_destroy_id", "rdma_destroy_event_channel");
        assertThatIllegalStateException().isThrownBy(() -> identifier.connect(PARAMETERS));
        connected.countDown();
        connecting.join();
        assertThat(library.calls).endsWith("rdma_destroy_id", "rdma_destroy_event_channel");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldTransferOwnershipOfAMigratedIdentifier() throws Exception {
        var second = new FakeLibrary(); // Represents the same library with another event channel.
        try (var target = ConnectionManager.from(second).newEventChannel()) {
            var moved = identifier.migrateTo(target);

            assertThatIllegalStateException().isThrownBy(identifier::establish);
            second.deliver(event(rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(), 0, moved.address()));
            assertThat(target.next(TIMEOUT).identifier()).isSameAs(moved);
            assertThat(moved.migrateTo(target)).isSameAs(moved);
        }
        assertThat(library.calls).doesNotContain("rdma_destroy_id");
        assertThat(second.calls).endsWith("rdma_destroy_id", "rdma_destroy_event_channel");
    }

    /**
     * {@code rdma_migrate_id} moves the pending events before it returns. Therefore, a thread that
     * waits at the new channel can receive an event before migrateTo() returns.
     */
    @Test
    void shouldDeliverEventsThatArriveDuringMigration() throws Exception {
        var second = new FakeLibrary();
        try (var target = ConnectionManager.from(second).newEventChannel()) {
            var address = identifier.address();
            var eventDuringMigration = new CompletableFuture<ConnectionEvent>();
            second.onCall(
                    "rdma_migrate_id",
                    _ -> {
                        second.deliver(event(rdma_h.RDMA_CM_EVENT_DISCONNECTED(), 0, address));
                        try {
                            eventDuringMigration.complete(target.next(TIMEOUT));
                        } catch (Exception e) {
                            eventDuringMigration.completeExceptionally(e);
                        }
                    });

            var moved = identifier.migrateTo(target);

            assertThat(eventDuringMigration.join().identifier()).isSameAs(moved);
        }
    }

    @Test
    void shouldKeepItsChannelIfMigrationFails() throws Exception {
        var second = new FakeLibrary().answer("rdma_migrate_id", -1, Errno.EINVAL);
        try (var target = ConnectionManager.from(second).newEventChannel()) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> identifier.migrateTo(target))
                    .withMessageContaining("rdma_migrate_id");
        }
        assertThat(second.calls).doesNotContain("rdma_destroy_id");

        assertThat(translated(rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(), 0).identifier())
                .isSameAs(identifier);
    }

    @Test
    void shouldDestroyAnIdentifierThatFailsToLeaveItsGroups() throws Exception {
        bindToDevice();
        identifier.joinMulticast(InetAddress.ofLiteral("239.1.2.3"));
        identifier.joinMulticast(InetAddress.ofLiteral("239.1.2.4"));
        library.answer("rdma_leave_multicast", -1, Errno.ENODEV);

        identifier.close();

        assertThat(Collections.frequency(library.calls, "rdma_leave_multicast")).isEqualTo(2);
        assertThat(library.calls).endsWith("rdma_destroy_id");
    }

    @Test
    void shouldReadAddressesOfBothFamilies() throws Exception {
        var peer = rdma_addr.dst_storage(rdma_route.addr(rdma_cm_id.route(identifier.address())));
        library.onCall(
                "rdma_resolve_addr",
                arguments ->
                        peer.copyFrom(
                                FakeLibrary.memory(
                                        arguments[2], sockaddr_in6.layout().byteSize())));

        for (var address : new String[] {"10.77.0.1", "2001:db8::7"}) {
            var peerAddress = new InetSocketAddress(InetAddress.getByName(address), 50_000);
            identifier.resolveAddress(peerAddress, TIMEOUT);
            assertThat(identifier.peerAddress()).hasValue(peerAddress);
        }
    }

    @Test
    void shouldAcceptTheLongestTimeout() throws Exception {
        var forever = ChronoUnit.FOREVER.getDuration();
        library.answer("rdma_resolve_addr", 0, 0);

        identifier.resolveAddress(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), forever);
    }

    @Test
    void shouldReportMinusOneAndErrno() {
        library.answer("rdma_bind_addr", -1, Errno.EADDRNOTAVAIL);
        library.answer("rdma_listen", -1, Errno.EINVAL);
        library.answer("rdma_set_option", -1, Errno.ENOSYS);
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.bind(address))
                .withMessage(
                        "rdma_bind_addr failed for localhost:1: EADDRNOTAVAIL (99). This machine does"
                                + " not have that address.")
                .satisfies(e -> assertThat(e.function()).isEqualTo("rdma_bind_addr"))
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EADDRNOTAVAIL));
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.listen(1))
                .withMessageContaining("rdma_listen failed for " + identifier);
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.typeOfService(1))
                .withMessageContaining("ENOSYS");
    }

    @Test
    void shouldAdviseIfAnEventChannelCannotBeCreated() throws Exception {
        var connections = ConnectionManager.from(library);
        for (var missing :
                new Object[][] {
                    {Errno.ENODEV, "no RDMA device"},
                    {Errno.ENOENT, "rdma_ucm"},
                    {Errno.EACCES, "This user has no access"}
                }) {
            library.answer("rdma_create_event_channel", MemorySegment.NULL, (int) missing[0]);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(connections::newEventChannel)
                    .withMessageContaining((String) missing[1]);
        }
    }

    @Test
    void shouldLoadALibraryWithoutOptionalFunctions() throws Exception {
        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> ConnectionManager.from(new FakeLibrary().without("rdma_connect")))
                .withMessageContaining("rdma_connect");
        var older =
                new FakeLibrary()
                        .without("rdma_establish")
                        .without("rdma_set_local_ece")
                        .without("rdma_get_remote_ece")
                        .without("rdma_reject_ece")
                        .without("rdma_resolve_addrinfo")
                        .without("rdma_query_addrinfo")
                        .without("rdma_write_cm_event");
        try (var olderChannel = ConnectionManager.from(older).newEventChannel()) {
            var olderIdentifier = olderChannel.newIdentifier(PortSpace.TCP);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(olderIdentifier::establish)
                    .withMessageContaining("EOPNOTSUPP");
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(
                            () -> olderIdentifier.vendorOptions(new ConnectionVendorOptions(1, 2)))
                    .withMessageContaining("EOPNOTSUPP");
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(olderIdentifier::peerVendorOptions)
                    .withMessageContaining("EOPNOTSUPP");
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(olderIdentifier::rejectVendorOptions)
                    .withMessageContaining("rdma_reject_ece failed")
                    .withMessageContaining("requires rdma-core 31");
            for (var call :
                    Map.<String, ThrowingCallable>of(
                                    "rdma_resolve_addrinfo",
                                    () ->
                                            olderIdentifier.resolveAddressInfo(
                                                    AddressQuery.to("::1", "1")),
                                    "rdma_query_addrinfo",
                                    olderIdentifier::addressInfo,
                                    "rdma_write_cm_event",
                                    () -> olderIdentifier.writeEvent(1, 2))
                            .entrySet()) {
                assertThatExceptionOfType(VerbsException.class)
                        .isThrownBy(call.getValue())
                        .withMessageContaining(call.getKey() + " failed")
                        .withMessageContaining("EOPNOTSUPP")
                        .withMessageContaining("requires rdma-core 60");
            }
        }
    }

    @Test
    void shouldReportTheResultOfALookupAsAnEvent() throws Exception {
        var hostAndService = new String[2];
        var hints = new int[3];
        var called = new CountDownLatch(1); // Counted down on another thread.
        library.onCall(
                        "rdma_resolve_addrinfo",
                        arguments -> {
                            hostAndService[0] = FakeLibrary.memory(arguments[1], 10).getString(0);
                            hostAndService[1] = FakeLibrary.memory(arguments[2], 10).getString(0);
                            var info =
                                    FakeLibrary.memory(
                                            arguments[3], rdma_addrinfo.layout().byteSize());
                            hints[0] = rdma_addrinfo.ai_flags(info);
                            hints[1] = rdma_addrinfo.ai_qp_type(info);
                            hints[2] = rdma_addrinfo.ai_port_space(info);
                            called.countDown();
                        })
                .onCall(
                        "rdma_query_addrinfo",
                        arguments ->
                                FakeLibrary.memory(arguments[1], ValueLayout.ADDRESS.byteSize())
                                        .set(ValueLayout.ADDRESS, 0, addressInfo()));

        identifier.resolveAddressInfo(
                AddressQuery.to("some", "7471")
                        .type(QueuePairType.UNRELIABLE_CONNECTION)
                        .numericHost());
        assertThat(called.await(10, TimeUnit.SECONDS)).isTrue();
        var resolved = translated(rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED(), 0);

        assertThat(hostAndService).containsExactly("some", "7471");
        assertThat(hints)
                .containsExactly(
                        rdma_h.RAI_NUMERICHOST(), rdma_h.IBV_QPT_UC(), rdma_h.RDMA_PS_IB());
        assertThat(resolved).isEqualTo(new ConnectionEvent.AddressInfoResolved(identifier));
        assertThat(identifier.addressInfo())
                .containsExactly(
                        new AddressInfo(
                                QueuePairType.UNRELIABLE_CONNECTION,
                                PortSpace.IB,
                                Optional.empty(),
                                Optional.empty()));
        assertThat(library.calls).containsSubsequence("rdma_query_addrinfo", "rdma_freeaddrinfo");
    }

    private static MemorySegment addressInfo() {
        var info = rdma_addrinfo.allocate(Arena.global());
        rdma_addrinfo.ai_qp_type(info, rdma_h.IBV_QPT_UC());
        rdma_addrinfo.ai_port_space(info, rdma_h.RDMA_PS_IB());
        return info;
    }

    @Test
    void shouldReportAFailedLookup() throws Exception {
        library.answer("rdma_resolve_addrinfo", -1, -2);
        identifier.resolveAddressInfo(AddressQuery.to("unknown.example", "1"));
        var failure = channel.next(TIMEOUT);
        assertThat(failure).isEqualTo(new ConnectionEvent.AddressInfoError(identifier, -2));
        assertThat(((ConnectionEvent.Failure) failure).reason())
                .isEqualTo("the host or service is unknown (-2)");
        library.answer("rdma_resolve_addrinfo", -1, Errno.EBUSY);
        identifier.resolveAddressInfo(AddressQuery.to("busy.example", "1"));
        assertThat(((ConnectionEvent.Failure) channel.next(TIMEOUT)).reason())
                .contains("previous lookup has not been taken");
        library.answer("rdma_query_addrinfo", -1, Errno.ENOENT);
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(identifier::addressInfo)
                .withMessageContaining("rdma_query_addrinfo")
                .withMessageContaining("ENOENT");
        assertThat(library.calls).doesNotContain("rdma_freeaddrinfo");
    }

    /** Starts a lookup whose C function blocks until the caller counts down the returned latch. */
    private CountDownLatch startBlockedLookup() throws Exception {
        var called = new CountDownLatch(1);
        var unblock = new CountDownLatch(1);
        library.onCall(
                "rdma_resolve_addrinfo",
                _ -> {
                    called.countDown();
                    awaitQuietly(unblock);
                });
        identifier.resolveAddressInfo(AddressQuery.to("slow", "1"));
        called.await();
        return unblock;
    }

    /**
     * A blocked lookup call cannot be interrupted. Therefore, close() returns during the call, and
     * the thread of the call destroys the identifier.
     */
    @Test
    void shouldCloseDuringALookup() throws Exception {
        var destroyed = new CountDownLatch(1);
        library.onCall("rdma_destroy_id", _ -> destroyed.countDown());
        var unblock = startBlockedLookup();

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.resolveAddressInfo(AddressQuery.to("slow", "2")))
                .withMessageContaining("another thread");
        identifier.close();
        assertThat(library.calls).doesNotContain("rdma_destroy_id");

        unblock.countDown();
        destroyed.await();
        assertThat(library.calls).containsOnlyOnce("rdma_destroy_id");
        assertThatIllegalStateException()
                .isThrownBy(() -> identifier.resolveAddressInfo(AddressQuery.to("slow", "3")));
    }

    /**
     * After a migration, the new owner could destroy the identifier while the lookup still writes
     * to it.
     */
    @Test
    void shouldNotMigrateDuringALookup() throws Exception {
        var destroyed = new CountDownLatch(1);
        library.onCall("rdma_destroy_id", _ -> destroyed.countDown());
        var second = new FakeLibrary();
        try (var target = ConnectionManager.from(second).newEventChannel()) {
            var unblock = startBlockedLookup();

            assertThatIllegalStateException()
                    .isThrownBy(() -> identifier.migrateTo(target).close())
                    .withMessageContaining("connect or lookup call");

            identifier.close();
            assertThat(library.calls).doesNotContain("rdma_destroy_id");
            unblock.countDown();
            destroyed.await();
        }
        assertThat(second.calls).doesNotContain("rdma_migrate_id", "rdma_destroy_id");
    }

    /**
     * The event of a lookup can arrive before the lookup call returns. A program that has received
     * the event may migrate the identifier immediately.
     */
    @Test
    void shouldMigrateAfterALookupCallHasReturned() throws Exception {
        var second = new FakeLibrary();
        try (var target = ConnectionManager.from(second).newEventChannel()) {
            var unblock = startBlockedLookup();
            translated(rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED(), 0);
            var migrating =
                    CompletableFuture.supplyAsync(() -> {
                        try {
                            return identifier.migrateTo(target);
                        } catch (VerbsException e) {
                            throw new IllegalStateException(e);
                        }
                    });
            Thread.sleep(50);
            assertThat(migrating).isNotDone();
            assertThat(second.calls).doesNotContain("rdma_migrate_id");

            unblock.countDown();

            assertThat(migrating.get().isOpen()).isTrue();
        }
        assertThat(second.calls).containsOnlyOnce("rdma_destroy_id");
        assertThat(library.calls).doesNotContain("rdma_destroy_id");
    }

    /**
     * On iWARP, {@code rdma_destroy_id} waits for the peer, so it must not run on the thread that
     * closes the identifier.
     */
    @Test
    void shouldDestroyAMigratedIwarpIdentifierInTheBackground() throws Exception {
        library.transport(rdma_h.IBV_TRANSPORT_IWARP());
        bindToDevice();
        identifier.connect(PARAMETERS);
        var second = new FakeLibrary();
        var destroyer = new CompletableFuture<Thread>();
        second.onCall("rdma_destroy_id", _ -> destroyer.complete(Thread.currentThread()));
        try (var target = ConnectionManager.from(second).newEventChannel()) {
            identifier.migrateTo(target).close();

            assertThat(destroyer.get()).isNotSameAs(Thread.currentThread());
        }
    }

    @Test
    void shouldThrowTheFailureOfACallRatherThanOfTheDestruction() throws Exception {
        bindToDevice();
        library.answer("rdma_connect", -1, Errno.ECONNREFUSED)
                .answer("rdma_destroy_id", -1, Errno.EIO)
                .onCall("rdma_connect", _ -> closeQuietly());

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.connect(PARAMETERS))
                .satisfies(e -> assertThat(e.function()).isEqualTo("rdma_connect"))
                .satisfies(e ->
                        assertThat(e.getSuppressed())
                                .singleElement()
                                .asString()
                                .contains("rdma_destroy_id"));
        library.answer("rdma_destroy_id", 0, 0);
    }

    private void closeQuietly() {
        identifier.close();
    }

    @Test
    void shouldDeliverUserDefinedEvents() throws Exception {
        var written = new ArrayList<Object>();
        library.onCall("rdma_write_cm_event", arguments -> Collections.addAll(written, arguments));
        identifier.writeEvent(-3, 0x1122_3344_5566_7788L);
        assertThat(written.subList(1, 4))
                .containsExactly(rdma_h.RDMA_CM_EVENT_USER(), -3, 0x1122_3344_5566_7788L);

        var event = event(rdma_h.RDMA_CM_EVENT_USER(), -3, identifier.address());
        rdma_cm_event.param.arg(rdma_cm_event.param(event), 0x1122_3344_5566_7788L);
        library.deliver(event);

        assertThat(channel.next(TIMEOUT))
                .isEqualTo(new ConnectionEvent.UserDefined(identifier, -3, 0x1122_3344_5566_7788L));
    }

    @Test
    void shouldNotValidateIwarpTransitionsOfTheConnectionManager() throws Exception {
        library.transport(rdma_h.IBV_TRANSPORT_IWARP());
        try (var device = Verbs.from(library).open(FakeLibrary.DEVICE)) {
            var queuePair =
                    device.newProtectionDomain()
                            .newQueuePair(QueuePairOptions.reliable(device.newCompletionQueue(16)));

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> queuePair.modify(QueuePairChange.to(QueuePairState.INIT)))
                    .withMessageContaining("lacks");
            queuePair.modify(
                    QueuePairChange.fromConnectionManager()
                            .state(QueuePairState.INIT)
                            .port(1)
                            .access(Access.REMOTE_READ));

            assertThat(queuePair.state()).isEqualTo(QueuePairState.INIT);
        }
    }

    @Test
    void shouldHaveADistinctMeaningForEachRejectReason() {
        assertThat(RejectReason.values())
                .extracting(RejectReason::meaning)
                .doesNotHaveDuplicates()
                .allSatisfy(meaning -> assertThat(meaning).isNotBlank());
    }
}
