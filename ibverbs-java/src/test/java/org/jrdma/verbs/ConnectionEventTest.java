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
import org.jrdma.verbs.model.EnhancedOptions;
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

/** What librdmacm says, and what comes of it in Java. */
@Timeout(30)
class ConnectionEventTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
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
        library.tell(event(type, status, identifier.address()));
        return channel.next(PATIENCE);
    }

    static Stream<Arguments> failures() {
        return Stream.of(
                arguments(
                        rdma_h.RDMA_CM_EVENT_ADDR_ERROR(),
                        -Errno.ENODEV,
                        "no RDMA device leads there: ENODEV (19)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_ADDR_ERROR(),
                        -Errno.ETIMEDOUT,
                        "nobody there answers to the address: ETIMEDOUT (110)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_ROUTE_ERROR(),
                        -Errno.EHOSTUNREACH,
                        "no route was found: EHOSTUNREACH (113)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR(),
                        Errno.ENOENT,
                        "nobody knows it: ENOENT (2)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_UNREACHABLE(),
                        -Errno.ETIMEDOUT,
                        "the peer does not answer: ETIMEDOUT (110)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_UNREACHABLE(),
                        3,
                        "the peer refused: it has no queue pair for it (3)"),
                arguments(rdma_h.RDMA_CM_EVENT_CONNECT_ERROR(), -Errno.EPROTO, "EPROTO (71)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_REJECTED(),
                        8,
                        "the peer refused: nobody listens at that port (NO_LISTENER, 8)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_REJECTED(),
                        -Errno.ECONNREFUSED,
                        "the peer refused: its program refused (CONSUMER, -111)"),
                arguments(
                        rdma_h.RDMA_CM_EVENT_REJECTED(),
                        99,
                        "the peer refused: for a reason that has no name here (UNKNOWN, 99)"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void shouldSayInWordsWhatFailed(int type, int status, String reason) throws Exception {
        assertThat(translated(type, status))
                .isInstanceOfSatisfying(
                        ConnectionEvent.Failure.class,
                        failure -> {
                            assertThat(failure.identifier()).isSameAs(identifier);
                            assertThat(failure.reason()).isEqualTo(reason);
                        });
    }

    static Stream<Arguments> plain() {
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
    @MethodSource("plain")
    void shouldTellKindsOfEventsApart(int type, Class<?> kind) throws Exception {
        var event = translated(type, 0);

        assertThat(event).isExactlyInstanceOf(kind);
        assertThat(event.identifier()).isSameAs(identifier);
    }

    @Test
    void shouldCopyAndAcknowledgeEachEventWhenItIsTaken() throws Exception {
        var event = event(rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(), 0, identifier.address());
        var data = Arena.global().allocateFrom("guess");
        var parameters = rdma_cm_event.param.conn(rdma_cm_event.param(event));
        rdma_conn_param.private_data(parameters, data);
        rdma_conn_param.private_data_len(parameters, (byte) 6);
        rdma_conn_param.qp_num(parameters, 0x77);
        rdma_conn_param.responder_resources(parameters, (byte) 200);
        rdma_conn_param.initiator_depth(parameters, (byte) 3);
        rdma_conn_param.srq(parameters, (byte) 1);
        library.tell(event);

        var response = (ConnectionEvent.ConnectResponse) channel.next(PATIENCE);
        data.fill((byte) 0); // as memory that was freed

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
    void shouldTellWhereDatagramsGo() throws Exception {
        rdma_cm_id.qp_type(identifier.address(), rdma_h.IBV_QPT_UD());
        var event = event(rdma_h.RDMA_CM_EVENT_ESTABLISHED(), 0, identifier.address());
        var parameters = rdma_cm_event.param.ud(rdma_cm_event.param(event));
        rdma_ud_param.qp_num(parameters, 0x55);
        rdma_ud_param.qkey(parameters, 0x1234567);
        library.tell(event);

        var established = (ConnectionEvent.DatagramEstablished) channel.next(PATIENCE);

        assertThat(established.parameters().queuePairNumber()).isEqualTo(0x55);
        assertThat(established.parameters().queueKey()).isEqualTo(0x1234567);
        assertThat(established.parameters().address().route()).isEmpty();
    }

    @Test
    void shouldMakeAnIdentifierOfARequest() throws Exception {
        var made = rdma_cm_id.allocate(Arena.global());
        var event = event(rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(), 0, made);
        rdma_cm_event.listen_id(event, identifier.address());
        library.tell(event);

        var request = (ConnectionEvent.ConnectRequest) channel.next(PATIENCE);

        assertThat(request.listener()).isSameAs(identifier);
        assertThat(request.identifier().address().address()).isEqualTo(made.address());
        channel.close();
        assertThat(request.identifier().isOpen()).isFalse();
        assertThat(Collections.frequency(library.calls, "rdma_destroy_id")).isEqualTo(2);
        assertThat(library.calls).endsWith("rdma_destroy_event_channel");
    }

    @Test
    void shouldDestroyARequestToAListenerThatIsClosedAndDropOtherEventsOfIt() throws Exception {
        var closed = identifier.address();
        identifier.close();
        var event =
                event(
                        rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(),
                        0,
                        rdma_cm_id.allocate(Arena.global()));
        rdma_cm_event.listen_id(event, closed);
        library.tell(event);
        library.tell(event(rdma_h.RDMA_CM_EVENT_DISCONNECTED(), 0, closed));
        identifier = channel.newIdentifier(PortSpace.TCP);

        assertThat(translated(rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED(), 0).identifier())
                .isSameAs(identifier);

        assertThat(Collections.frequency(library.calls, "rdma_destroy_id")).isEqualTo(2);
        assertThat(Collections.frequency(library.calls, "rdma_ack_cm_event")).isEqualTo(3);
    }

    /** As soon as an event is acknowledged, the address may be another's. */
    @Test
    void shouldTellNobodyOfAnEventOfWhomItTookTheAddressOf() throws Exception {
        var address = identifier.address();
        library.answering("rdma_create_id", 0, 0)
                .watching(
                        "rdma_create_id",
                        arguments ->
                                FakeLibrary.memory(arguments[1], ValueLayout.ADDRESS.byteSize())
                                        .set(ValueLayout.ADDRESS, 0, address))
                .watching("rdma_ack_cm_event", _ -> replaceIdentifier());
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
    void shouldTellWhichGroupsWereJoinedAndLeaveThemAtTheEnd() throws Exception {
        bound();
        var contexts = new ArrayList<MemorySegment>();
        library.watching(
                "rdma_join_multicast", arguments -> contexts.add((MemorySegment) arguments[2]));
        var first = InetAddress.ofLiteral("239.1.2.3");
        var second = InetAddress.ofLiteral("ff15::1");
        identifier.joinMulticast(first);
        identifier.joinMulticast(second);
        var joined = event(rdma_h.RDMA_CM_EVENT_MULTICAST_JOIN(), 0, identifier.address());
        var parameters = rdma_cm_event.param.ud(rdma_cm_event.param(joined));
        rdma_ud_param.private_data(parameters, contexts.getFirst()); // no pointer to anything
        rdma_ud_param.private_data_len(parameters, (byte) 8);
        rdma_ud_param.qkey(parameters, 7);
        library.tell(joined);
        var failed =
                event(
                        rdma_h.RDMA_CM_EVENT_MULTICAST_ERROR(),
                        -Errno.ENETUNREACH,
                        identifier.address());
        rdma_ud_param.private_data(
                rdma_cm_event.param.ud(rdma_cm_event.param(failed)), contexts.getLast());
        library.tell(failed);

        var event = (ConnectionEvent.MulticastJoined) channel.next(PATIENCE);
        assertThat(event.group()).isEqualTo(first);
        assertThat(event.parameters().queueKey()).isEqualTo(7);
        var error = (ConnectionEvent.MulticastError) channel.next(PATIENCE);
        assertThat(error.group()).isEqualTo(second);
        assertThat(error.reason()).isEqualTo("group ff15:0:0:0:0:0:0:1: ENETUNREACH (101)");
        identifier.leaveMulticast(second);
        identifier.close();
        assertThat(Collections.frequency(library.calls, "rdma_leave_multicast")).isEqualTo(2);
        assertThat(library.calls).endsWith("rdma_leave_multicast", "rdma_destroy_id");
    }

    @Test
    void shouldLeaveNoGroupThatItIsNotIn() throws Exception {
        var group = InetAddress.ofLiteral("239.1.2.3");
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.joinMulticast(group))
                .withMessageContaining("resolve an address first");
        bound();
        library.answering("rdma_join_multicast", -1, Errno.EINVAL)
                .answering("rdma_leave_multicast", -1, Errno.EADDRNOTAVAIL)
                .answering("rdma_join_multicast_ex", -1, Errno.EOPNOTSUPP);

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

    /** Gives the identifier a device. */
    private void bound() {
        rdma_cm_id.verbs(identifier.address(), library.context());
        ibv_context.device(library.context(), library.device());
    }

    /** On iWARP the call waits for TCP, for minutes if it must. */
    @Test
    void shouldCloseAtOnceDuringACallThatConnectsAndLeaveDestructionToItsThread() throws Exception {
        bound();
        var entered = new CountDownLatch(1);
        var connected = new CountDownLatch(1);
        library.watching(
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
    void shouldLeaveAnIdentifierThatMigratedToItsNewOwner() throws Exception {
        var second = new FakeLibrary(); // as if it were the same, with a descriptor of its own
        try (var other = ConnectionManager.from(second).newEventChannel()) {
            var moved = identifier.migrateTo(other);

            assertThatIllegalStateException().isThrownBy(identifier::establish);
            second.tell(event(rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(), 0, moved.address()));
            assertThat(other.next(PATIENCE).identifier()).isSameAs(moved);
            assertThat(moved.migrateTo(other)).isSameAs(moved);
        }
        assertThat(library.calls).doesNotContain("rdma_destroy_id");
        assertThat(second.calls).endsWith("rdma_destroy_id", "rdma_destroy_event_channel");
    }

    /** The kernel moves its events at once, and whoever waits at the other channel is woken. */
    @Test
    void shouldKnowAnIdentifierAtItsNewChannelBeforeItHasMigrated() throws Exception {
        var second = new FakeLibrary();
        try (var other = ConnectionManager.from(second).newEventChannel()) {
            var address = identifier.address();
            var meanwhile = new CompletableFuture<ConnectionEvent>();
            second.watching(
                    "rdma_migrate_id",
                    _ -> {
                        second.tell(event(rdma_h.RDMA_CM_EVENT_DISCONNECTED(), 0, address));
                        try {
                            meanwhile.complete(other.next(PATIENCE));
                        } catch (Exception e) {
                            meanwhile.completeExceptionally(e);
                        }
                    });

            var moved = identifier.migrateTo(other);

            assertThat(meanwhile.join().identifier()).isSameAs(moved);
        }
    }

    @Test
    void shouldStayWhereItIsWhenItCannotMigrate() throws Exception {
        var second = new FakeLibrary().answering("rdma_migrate_id", -1, Errno.EINVAL);
        try (var other = ConnectionManager.from(second).newEventChannel()) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> identifier.migrateTo(other))
                    .withMessageContaining("rdma_migrate_id");
        }
        assertThat(second.calls).doesNotContain("rdma_destroy_id");

        assertThat(translated(rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(), 0).identifier())
                .isSameAs(identifier);
    }

    @Test
    void shouldDestroyWhatCannotLeaveItsGroups() throws Exception {
        bound();
        identifier.joinMulticast(InetAddress.ofLiteral("239.1.2.3"));
        identifier.joinMulticast(InetAddress.ofLiteral("239.1.2.4"));
        library.answering("rdma_leave_multicast", -1, Errno.ENODEV);

        identifier.close();

        assertThat(Collections.frequency(library.calls, "rdma_leave_multicast")).isEqualTo(2);
        assertThat(library.calls).endsWith("rdma_destroy_id");
    }

    @Test
    void shouldReadAddressesOfBothFamilies() throws Exception {
        var peer = rdma_addr.dst_storage(rdma_route.addr(rdma_cm_id.route(identifier.address())));
        library.watching(
                "rdma_resolve_addr",
                arguments ->
                        peer.copyFrom(
                                FakeLibrary.memory(
                                        arguments[2], sockaddr_in6.layout().byteSize())));

        for (var address : new String[] {"10.77.0.1", "2001:db8::7"}) {
            var asked = new InetSocketAddress(InetAddress.getByName(address), 50_000);
            identifier.resolveAddress(asked, PATIENCE);
            assertThat(identifier.peerAddress()).hasValue(asked);
        }
    }

    @Test
    void shouldReportMinusOneAndErrno() {
        library.answering("rdma_bind_addr", -1, Errno.EADDRNOTAVAIL);
        library.answering("rdma_listen", -1, Errno.EINVAL);
        library.answering("rdma_set_option", -1, Errno.ENOSYS);
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.bind(address))
                .withMessage(
                        "rdma_bind_addr failed for %s: EADDRNOTAVAIL (99). This machine does not have that address.",
                        address)
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
    void shouldSayWhatIsMissingWhereThereIsNoChannel() throws Exception {
        var connections = ConnectionManager.from(library);
        for (var missing :
                new Object[][] {
                    {Errno.ENODEV, "no RDMA device"},
                    {Errno.ENOENT, "rdma_ucm"},
                    {Errno.EACCES, "not for this user"}
                }) {
            library.answering("rdma_create_event_channel", MemorySegment.NULL, (int) missing[0]);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(connections::newEventChannel)
                    .withMessageContaining((String) missing[1]);
        }
    }

    @Test
    void shouldDoWithoutFunctionsOfLaterVersionsUntilTheyAreCalled() throws Exception {
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
        try (var its = ConnectionManager.from(older).newEventChannel()) {
            var old = its.newIdentifier(PortSpace.TCP);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(old::establish)
                    .withMessageContaining("EOPNOTSUPP");
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> old.enhancedOptions(new EnhancedOptions(1, 2)))
                    .withMessageContaining("EOPNOTSUPP");
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(old::peerEnhancedOptions)
                    .withMessageContaining("EOPNOTSUPP");
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(old::rejectEnhancedOptions)
                    .withMessageContaining("rdma_reject_ece failed")
                    .withMessageContaining("came with rdma-core 31");
            for (var call :
                    Map.<String, ThrowingCallable>of(
                                    "rdma_resolve_addrinfo",
                                    () -> old.resolveAddressInfo(AddressQuery.to("::1", "1")),
                                    "rdma_query_addrinfo",
                                    old::addressInfo,
                                    "rdma_write_cm_event",
                                    () -> old.writeEvent(1, 2))
                            .entrySet()) {
                assertThatExceptionOfType(VerbsException.class)
                        .isThrownBy(call.getValue())
                        .withMessageContaining(call.getKey() + " failed")
                        .withMessageContaining("EOPNOTSUPP")
                        .withMessageContaining("came with rdma-core 60");
            }
        }
    }

    @Test
    void shouldLookUpAddressesByEvents() throws Exception {
        var wanted = new String[2];
        var hints = new int[3];
        var asked = new CountDownLatch(1); // on another thread
        library.watching(
                        "rdma_resolve_addrinfo",
                        arguments -> {
                            wanted[0] = FakeLibrary.memory(arguments[1], 10).getString(0);
                            wanted[1] = FakeLibrary.memory(arguments[2], 10).getString(0);
                            var info =
                                    FakeLibrary.memory(
                                            arguments[3], rdma_addrinfo.layout().byteSize());
                            hints[0] = rdma_addrinfo.ai_flags(info);
                            hints[1] = rdma_addrinfo.ai_qp_type(info);
                            hints[2] = rdma_addrinfo.ai_port_space(info);
                            asked.countDown();
                        })
                .watching(
                        "rdma_query_addrinfo",
                        arguments ->
                                FakeLibrary.memory(arguments[1], ValueLayout.ADDRESS.byteSize())
                                        .set(ValueLayout.ADDRESS, 0, addressInfo()));

        identifier.resolveAddressInfo(
                AddressQuery.to("some", "7471").of(QueuePairType.UNRELIABLE_CONNECTION).asNumber());
        assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
        var resolved = translated(rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED(), 0);

        assertThat(wanted).containsExactly("some", "7471");
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
    void shouldSayWhoCouldNotBeLookedUp() throws Exception {
        library.answering("rdma_resolve_addrinfo", -1, -2);
        identifier.resolveAddressInfo(AddressQuery.to("nobody", "1"));
        var failure = channel.next(PATIENCE);
        assertThat(failure).isEqualTo(new ConnectionEvent.AddressInfoError(identifier, -2));
        assertThat(((ConnectionEvent.Failure) failure).reason())
                .isEqualTo("nobody knows it: there is no such host or service (-2)");
        library.answering("rdma_resolve_addrinfo", -1, Errno.EBUSY);
        identifier.resolveAddressInfo(AddressQuery.to("somebody", "1"));
        assertThat(((ConnectionEvent.Failure) channel.next(PATIENCE)).reason())
                .contains("looked up before is not taken");
        library.answering("rdma_query_addrinfo", -1, Errno.ENOENT);
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(identifier::addressInfo)
                .withMessageContaining("rdma_query_addrinfo")
                .withMessageContaining("ENOENT");
        assertThat(library.calls).doesNotContain("rdma_freeaddrinfo");
    }

    /** A look-up that takes long, until it is let go on. */
    private CountDownLatch slowLookUp() throws Exception {
        var asked = new CountDownLatch(1);
        var answer = new CountDownLatch(1);
        library.watching(
                "rdma_resolve_addrinfo",
                _ -> {
                    asked.countDown();
                    awaitQuietly(answer);
                });
        identifier.resolveAddressInfo(AddressQuery.to("slow", "1"));
        asked.await();
        return answer;
    }

    /** Nothing ends the call: the identifier is destroyed after it, and close() does not wait. */
    @Test
    void shouldCloseWhileWhoKnowsNamesIsAsked() throws Exception {
        var destroyed = new CountDownLatch(1);
        library.watching("rdma_destroy_id", _ -> destroyed.countDown());
        var answer = slowLookUp();

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.resolveAddressInfo(AddressQuery.to("slow", "2")))
                .withMessageContaining("another thread");
        identifier.close();
        assertThat(library.calls).doesNotContain("rdma_destroy_id");

        answer.countDown();
        destroyed.await();
        assertThat(library.calls).containsOnlyOnce("rdma_destroy_id");
        assertThatIllegalStateException()
                .isThrownBy(() -> identifier.resolveAddressInfo(AddressQuery.to("slow", "3")));
    }

    /** Its new owner would not know of that call, and could destroy what that writes to. */
    @Test
    void shouldNotMigrateWhileWhoKnowsNamesIsAsked() throws Exception {
        var destroyed = new CountDownLatch(1);
        library.watching("rdma_destroy_id", _ -> destroyed.countDown());
        var second = new FakeLibrary();
        try (var other = ConnectionManager.from(second).newEventChannel()) {
            var answer = slowLookUp();

            assertThatIllegalStateException()
                    .isThrownBy(() -> identifier.migrateTo(other).close())
                    .withMessageContaining("being connected or looked up for");

            identifier.close();
            assertThat(library.calls).doesNotContain("rdma_destroy_id");
            answer.countDown();
            destroyed.await();
        }
        assertThat(second.calls).doesNotContain("rdma_migrate_id", "rdma_destroy_id");
    }

    /** Who has the answer goes on: that the call is not quite back is nothing to be told of. */
    @Test
    void shouldMigrateWhenTheAnswerIsHereAndTheCallIsBack() throws Exception {
        var second = new FakeLibrary();
        try (var other = ConnectionManager.from(second).newEventChannel()) {
            var answer = slowLookUp();
            translated(rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED(), 0);
            var migrating =
                    CompletableFuture.supplyAsync(() -> {
                        try {
                            return identifier.migrateTo(other);
                        } catch (VerbsException e) {
                            throw new IllegalStateException(e);
                        }
                    });
            Thread.sleep(50);
            assertThat(migrating).isNotDone();
            assertThat(second.calls).doesNotContain("rdma_migrate_id");

            answer.countDown();

            assertThat(migrating.get().isOpen()).isTrue();
        }
        assertThat(second.calls).containsOnlyOnce("rdma_destroy_id");
        assertThat(library.calls).doesNotContain("rdma_destroy_id");
    }

    /** On iWARP, where that waits for the peer. */
    @Test
    void shouldDestroyOnAThreadOfItsOwnWhatWasConnectedBeforeItMigrated() throws Exception {
        library.speaking(rdma_h.IBV_TRANSPORT_IWARP());
        bound();
        identifier.connect(PARAMETERS);
        var second = new FakeLibrary();
        var destroyer = new CompletableFuture<Thread>();
        second.watching("rdma_destroy_id", _ -> destroyer.complete(Thread.currentThread()));
        try (var other = ConnectionManager.from(second).newEventChannel()) {
            identifier.migrateTo(other).close();

            assertThat(destroyer.get()).isNotSameAs(Thread.currentThread());
        }
    }

    @Test
    void shouldTellWhyAStepHasFailedRatherThanItsEnd() throws Exception {
        bound();
        library.answering("rdma_connect", -1, Errno.ECONNREFUSED)
                .answering("rdma_destroy_id", -1, Errno.EIO)
                .watching("rdma_connect", _ -> closeQuietly());

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> identifier.connect(PARAMETERS))
                .satisfies(e -> assertThat(e.function()).isEqualTo("rdma_connect"))
                .satisfies(e ->
                        assertThat(e.getSuppressed())
                                .singleElement()
                                .asString()
                                .contains("rdma_destroy_id"));
        library.answering("rdma_destroy_id", 0, 0);
    }

    private void closeQuietly() {
        identifier.close();
    }

    @Test
    void shouldHearWhatAnotherThreadHasToSay() throws Exception {
        var written = new ArrayList<Object>();
        library.watching(
                "rdma_write_cm_event", arguments -> Collections.addAll(written, arguments));
        identifier.writeEvent(-3, 0x1122_3344_5566_7788L);
        assertThat(written.subList(1, 4))
                .containsExactly(rdma_h.RDMA_CM_EVENT_USER(), -3, 0x1122_3344_5566_7788L);

        var event = event(rdma_h.RDMA_CM_EVENT_USER(), -3, identifier.address());
        rdma_cm_event.param.arg(rdma_cm_event.param(event), 0x1122_3344_5566_7788L);
        library.tell(event);

        assertThat(channel.next(PATIENCE))
                .isEqualTo(new ConnectionEvent.Written(identifier, -3, 0x1122_3344_5566_7788L));
    }

    @Test
    void shouldLeaveTheStepsOfAnIwarpQueuePairToItsDriver() throws Exception {
        library.speaking(rdma_h.IBV_TRANSPORT_IWARP());
        try (var device = Verbs.from(library).open(FakeLibrary.DEVICE)) {
            var queuePair =
                    device.newProtectionDomain()
                            .newQueuePair(QueuePairOptions.reliable(device.newCompletionQueue(16)));

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> queuePair.modify(QueuePairChange.to(QueuePairState.INIT)))
                    .withMessageContaining("misses");
            queuePair.modify(
                    QueuePairChange.ofConnectionManager()
                            .state(QueuePairState.INIT)
                            .port(1)
                            .access(Access.REMOTE_READ));

            assertThat(queuePair.state()).isEqualTo(QueuePairState.INIT);
        }
    }

    @Test
    void shouldHaveOneReasonForEachStatus() {
        assertThat(RejectReason.values())
                .extracting(RejectReason::meaning)
                .doesNotHaveDuplicates()
                .allSatisfy(meaning -> assertThat(meaning).isNotBlank());
    }
}
