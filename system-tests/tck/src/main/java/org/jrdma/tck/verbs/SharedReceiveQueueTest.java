package org.jrdma.tck.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.verbs.Side.times;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.SharedReceiveQueueOptions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests shared receive queues of polled queue pairs. */
class SharedReceiveQueueTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final int PLACE_BYTES = 4096;

    private SharedReceiversHub hub;

    @AfterEach
    void close() {
        if (hub != null) {
            hub.close();
        }
    }

    private void use(SharedReceiversHub created) {
        hub = created;
    }

    // ---- messages

    @Test
    void shouldReceiveTheMessagesOfSeveralQueuePairsIntoOneQueue() throws VerbsException {
        var connections = 4;
        use(SharedReceiversHub.of(connections));
        var receives =
                IntStream.range(0, SharedReceiversHub.RECEIVES)
                        .mapToObj(place -> hub.prepareReceive(place))
                        .toArray(PreparedReceive[]::new);
        for (var receive : receives) {
            hub.post(receive);
        }

        for (var round = 0; round < 100; round++) {
            for (var connection = 0; connection < connections; connection++) {
                hub.send(connection, 1000 + connection, round * connections + connection);
            }
            var connectionsSeen = new HashSet<Integer>();
            for (var arrival : hub.arrived(connections)) {
                var completion = arrival.completion();
                assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
                assertThat(completion.kind()).isEqualTo(CompletionKind.RECEIVE);
                assertThat(completion.source()).isEmpty();
                var connection = hub.connectionOf(completion.queuePairNumber());
                connectionsSeen.add(connection);
                assertThat(completion.bytes()).isEqualTo(1000 + connection);
                assertThat(hub.received((int) arrival.id(), completion.bytes()))
                        .isEqualTo(times(completion.bytes(), round * connections + connection));
                hub.post(receives[(int) arrival.id()]);
            }
            assertThat(connectionsSeen).hasSize(connections);
            hub.sent(connections);
        }
    }

    @Test
    void shouldUseReceivesInOrderForMessagesToAnyQueuePair() throws VerbsException {
        use(SharedReceiversHub.of(3));
        hub.receive(6);

        for (var message = 0; message < 6; message++) {
            hub.send(message % 3, 8, message);

            assertThat(hub.arrived(1).getFirst().id()).isEqualTo(message);
            assertThat(hub.received(message, 8)).isEqualTo(times(8, message));
        }
    }

    @Test
    void shouldReceiveLongMessagesThatArriveInterleaved() throws VerbsException {
        var bytes = 64 * PLACE_BYTES / 4;
        use(SharedReceiversHub.of(4, 4, 1, DirectConnectOptions.DEFAULT));
        for (var part = 0; part < 4; part++) {
            hub.post(
                    hub.shared()
                            .prepareReceive(hub.incoming().slice((long) part * bytes, bytes))
                            .id(part));
        }

        for (var connection = 0; connection < 4; connection++) {
            hub.outgoing()
                    .slice((long) connection * bytes, bytes)
                    .segment()
                    .fill((byte) (connection + 1));
        }
        for (var connection = 0; connection < 4; connection++) {
            hub.post(
                    hub.sender(connection)
                            .prepareSend(hub.outgoing().slice((long) connection * bytes, bytes)));
        }

        var parts = new HashSet<Long>();
        for (var arrival : hub.arrived(4)) {
            parts.add(arrival.id());
            assertThat(arrival.completion().bytes()).isEqualTo(bytes);
            assertThat(
                            hub.incoming()
                                    .slice(arrival.id() * bytes, bytes)
                                    .segment()
                                    .toArray(JAVA_BYTE))
                    .isEqualTo(
                            times(
                                    bytes,
                                    hub.connectionOf(arrival.completion().queuePairNumber()) + 1));
        }
        assertThat(parts).containsExactlyInAnyOrder(0L, 1L, 2L, 3L);
    }

    @Test
    void shouldReceiveCompletionsOfWritesWithImmediateData() throws VerbsException {
        use(SharedReceiversHub.of(2));
        hub.receive(2);
        var remote = hub.incoming().remote();

        for (var connection = 0; connection < 2; connection++) {
            hub.post(
                    hub.sender(connection)
                            .prepareWrite(hub.out(connection, 32), remote)
                            .immediate(0xcafe + connection));
            var completion = hub.arrived(1).getFirst().completion();
            assertThat(completion.kind()).isEqualTo(CompletionKind.RECEIVE_WRITE_WITH_IMMEDIATE);
            assertThat(completion.immediate()).hasValue(0xcafe + connection);
            assertThat(completion.queuePairNumber()).isEqualTo(hub.receiver(connection).number());
        }
    }

    @Test
    void shouldScatterAMessageToSeveralSlices() throws VerbsException {
        use(SharedReceiversHub.of(1, 4, 3, DirectConnectOptions.DEFAULT));
        hub.post(hub.shared().prepareReceive(List.of(hub.in(0, 10), hub.in(1, 20), hub.in(2, 30))));

        hub.send(0, 50, 7);

        assertThat(hub.arrived(1).getFirst().completion().bytes()).isEqualTo(50);
        assertThat(hub.received(0, 11)).isEqualTo(Arrays.copyOf(times(10, 7), 11));
        assertThat(hub.received(1, 21)).isEqualTo(Arrays.copyOf(times(20, 7), 21));
        assertThat(hub.received(2, 21)).isEqualTo(Arrays.copyOf(times(20, 7), 21));
    }

    @Test
    void shouldPostAChainByOneCall() throws VerbsException {
        use(SharedReceiversHub.of(1));
        var chain =
                hub.shared()
                        .prepareChain(
                                hub.prepareReceive(0),
                                hub.prepareReceive(1),
                                hub.prepareReceive(2));

        for (var round = 0; round < 5; round++) {
            assertThat(chain.tryPost()).isTrue();
            for (var message = 0; message < 3; message++) {
                hub.send(0, 8, message);
                assertThat(hub.arrived(1).getFirst().id()).isEqualTo(message);
            }
            hub.sent(3);
        }
    }

    @Test
    void shouldServeUnreliableConnections() throws VerbsException {
        Fabric.underTest().needs(Feature.UNRELIABLE_CONNECTIONS);
        use(SharedReceiversHub.of(1));
        hub.connect(
                QueuePairOptions.unreliable(hub.sentQueue()),
                QueuePairOptions.unreliable(hub.completions()),
                DirectConnectOptions.DEFAULT);
        hub.receive(2);

        hub.send(1, 16, 1);
        assertThat(hub.arrived(1).getFirst().completion().queuePairNumber())
                .isEqualTo(hub.receiver(1).number());
        hub.send(0, 16, 2);
        assertThat(hub.arrived(1).getFirst().completion().queuePairNumber())
                .isEqualTo(hub.receiver(0).number());
    }

    @Test
    void shouldServeDatagramsAndConnectionsAndReportTheSourceOfADatagram() throws VerbsException {
        use(SharedReceiversHub.of(1));
        var sender = DatagramSide.active(hub.device());
        var receiver =
                hub.domain()
                        .newQueuePair(
                                QueuePairOptions.datagrams(hub.completions())
                                        .sends(1)
                                        .sharedReceives(hub.shared()));
        receiver.activate(DatagramSide.QUEUE_KEY);
        var destination =
                new Destination(
                        sender.domain()
                                .newAddressHandle(
                                        sender.queuePair().addressOf(receiver.endpoint())),
                        receiver.number(),
                        DatagramSide.QUEUE_KEY);
        hub.receive(2);
        sender.place(0, 100).segment().fill((byte) 5);

        sender.complete(sender.queuePair().prepareSend(sender.region().slice(0, 100), destination));
        var datagram = hub.arrived(1).getFirst().completion();
        hub.send(0, 100, 6);
        var message = hub.arrived(1).getFirst().completion();

        assertThat(datagram.bytes()).isEqualTo(DatagramSide.HEADER + 100);
        assertThat(datagram.source().orElseThrow().queuePairNumber())
                .isEqualTo(sender.queuePair().number());
        assertThat(datagram.queuePairNumber()).isEqualTo(receiver.number());
        assertThat(hub.in(0, DatagramSide.HEADER + 100).segment().asSlice(DatagramSide.HEADER))
                .matches(body -> Arrays.equals(body.toArray(JAVA_BYTE), times(100, 5)));
        assertThat(message.source()).isEmpty();
        assertThat(hub.received(1, 100)).isEqualTo(times(100, 6));
    }

    @Test
    void shouldCompleteInTheCompletionQueueOfTheReceivingQueuePair() throws VerbsException {
        use(SharedReceiversHub.of(1));
        var other = hub.device().newCompletionQueue(64);
        var otherCursor = other.newCursor(4);
        hub.connect(
                QueuePairOptions.reliable(hub.sentQueue()),
                QueuePairOptions.reliable(hub.completions(), other),
                DirectConnectOptions.DEFAULT);
        hub.receive(2);

        hub.send(1, 8, 1);
        assertThat(Side.take(otherCursor, 1).getFirst().id()).isZero();
        hub.send(0, 8, 2);
        assertThat(hub.arrived(1).getFirst().id()).isEqualTo(1);
        assertThat(otherCursor.poll()).isZero();
    }

    // ---- capacity

    @Test
    void shouldRejectReceivesWhileItIsFullAndAcceptOneForEachCompletion() throws VerbsException {
        use(SharedReceiversHub.of(2));
        hub.receive(SharedReceiversHub.RECEIVES);

        assertThat(hub.shared().freeReceives()).isZero();
        assertThat(hub.prepareReceive(20).tryPost()).isFalse();

        hub.send(0, 8, 1);
        hub.send(1, 8, 2);
        hub.arrived(2);
        assertThat(hub.shared().freeReceives()).isEqualTo(2);
        hub.post(hub.prepareReceive(20));
        hub.post(hub.prepareReceive(21));
        assertThat(hub.prepareReceive(22).tryPost()).isFalse();
    }

    @Test
    void shouldReserveCapacityOnceForAllQueuePairsOfACompletionQueue() throws VerbsException {
        use(SharedReceiversHub.of(0));
        var completions = hub.device().newCompletionQueue(SharedReceiversHub.RECEIVES + 3);
        var options = QueuePairOptions.reliable(completions).sends(1).sharedReceives(hub.shared());
        var first = hub.domain().newQueuePair(options);
        assertThat(completions.remainingCapacity()).isEqualTo(2);
        var second = hub.domain().newQueuePair(options);
        hub.domain().newQueuePair(options);
        assertThat(completions.remainingCapacity()).isZero();

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> hub.domain().newQueuePair(options))
                .withMessageContaining("could overrun");

        first.close();
        assertThat(completions.remainingCapacity()).isEqualTo(1);
        second.close();
        hub.shared().close();
        assertThat(completions.remainingCapacity()).isEqualTo(SharedReceiversHub.RECEIVES + 3);
    }

    @Test
    void shouldLetAMessageWaitUntilThereIsAReceive() throws Exception {
        use(SharedReceiversHub.of(2));
        hub.send(0, 8, 1);
        Thread.sleep(20);
        assertThat(hub.cursor().poll()).isZero();

        hub.receive(1);

        assertThat(hub.arrived(1).getFirst().completion().queuePairNumber())
                .isEqualTo(hub.receiver(0).number());
        assertThat(hub.sent(1).getFirst().completion().isSuccess()).isTrue();
    }

    @Test
    void shouldFailASenderWhoseMessageFindsNoReceive() throws VerbsException {
        use(
                SharedReceiversHub.of(
                        2,
                        2,
                        1,
                        DirectConnectOptions.DEFAULT
                                .receiverNotReadyRetries(1)
                                .receiverNotReadyTimer(Duration.ofNanos(10_000))));
        hub.send(0, 8, 1);

        assertThat(hub.sent(1).getFirst().completion().status())
                .isEqualTo(CompletionStatus.RECEIVER_NOT_READY_RETRIES_EXCEEDED);

        hub.receive(1);
        hub.send(1, 8, 2);
        assertThat(hub.arrived(1).getFirst().completion().isSuccess()).isTrue();
    }

    @Test
    void shouldFailOnlyTheQueuePairWhoseMessageDoesNotFit() throws VerbsException {
        use(SharedReceiversHub.of(2));
        hub.post(hub.shared().prepareReceive(hub.in(0, 8)).id(1));
        hub.post(hub.prepareReceive(1));

        hub.send(0, 9, 5);

        var profile = Fabric.underTest().profile();
        var failed = hub.arrived(1).getFirst();
        assertThat(failed.id()).isEqualTo(1);
        assertThat(failed.completion().status())
                .isEqualTo(profile.statusOf(FailureCase.RECEIVE_TOO_SMALL_AT_RECEIVER));
        assertThat(failed.completion().queuePairNumber()).isEqualTo(hub.receiver(0).number());
        assertThat(hub.sent(1).getFirst().completion().status())
                .isEqualTo(profile.statusOf(FailureCase.RECEIVE_TOO_SMALL_AT_SENDER));
        hub.send(1, 9, 6);
        assertThat(hub.arrived(1).getFirst().completion().isSuccess()).isTrue();
        assertThat(hub.received(1, 9)).isEqualTo(times(9, 6));
    }

    // ---- limit and size

    @Test
    void shouldReportOnceThatFewerReceivesAreLeftThanTheLimit() throws Exception {
        use(SharedReceiversHub.of(2));
        hub.receive(4);
        hub.shared().limit(3);
        assertThat(hub.shared().attributes().limit()).isEqualTo(3);

        hub.send(0, 8, 1);
        hub.arrived(1);
        assertNoEventOfTheQueue(); // Three receives are left, as many as the limit.

        hub.send(1, 8, 2);
        var event = await(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED);
        assertThat(event).isSameAs(hub.shared());
        assertThat(hub.shared().attributes().limit()).isZero();

        hub.send(0, 8, 3);
        hub.arrived(2);
        assertNoEventOfTheQueue(); // The event has removed the limit.

        hub.shared().limit(1);
        hub.send(1, 8, 4);
        assertThat(await(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED)).isSameAs(hub.shared());
    }

    @Test
    void shouldReportNothingIfTheLimitIsRemoved() throws Exception {
        use(SharedReceiversHub.of(1));
        hub.receive(1);
        hub.shared().limit(1);
        hub.shared().limit(0);

        hub.send(0, 8, 1);
        hub.arrived(1);

        assertNoEventOfTheQueue();
    }

    @Test
    void shouldRejectALimitOutOfRange() throws VerbsException {
        use(SharedReceiversHub.of(0));

        for (var limit : new int[] {-1, SharedReceiversHub.RECEIVES + 1}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> hub.shared().limit(limit))
                    .withMessageContaining("is not in the range of " + hub.shared());
        }
    }

    @Test
    void shouldReportItsResources() throws VerbsException {
        Fabric.underTest().needs(Feature.QUERYING_SHARED_RECEIVE_QUEUES);
        use(SharedReceiversHub.of(0, 10, 2, DirectConnectOptions.DEFAULT));

        var attributes = hub.shared().attributes();

        assertThat(hub.shared().capacity()).isEqualTo(10);
        assertThat(hub.shared().elements()).isEqualTo(2);
        assertThat(attributes.receives()).isGreaterThanOrEqualTo(10);
        assertThat(attributes.elements()).isGreaterThanOrEqualTo(2);
        assertThat(attributes.limit()).isZero();
    }

    @Test
    void shouldGrowAndKeepItsContent() throws VerbsException {
        Fabric.underTest().needs(Feature.RESIZING_SHARED_RECEIVE_QUEUES);
        use(SharedReceiversHub.of(2));
        hub.receive(SharedReceiversHub.RECEIVES);

        hub.shared().resize(2 * SharedReceiversHub.RECEIVES);

        assertThat(hub.shared().capacity()).isEqualTo(2 * SharedReceiversHub.RECEIVES);
        assertThat(hub.shared().attributes().receives())
                .isGreaterThanOrEqualTo(2 * SharedReceiversHub.RECEIVES);
        for (var place = SharedReceiversHub.RECEIVES;
                place < 2 * SharedReceiversHub.RECEIVES;
                place++) {
            hub.post(hub.prepareReceive(place));
        }
        assertThat(hub.shared().freeReceives()).isZero();
        for (var message = 0; message < 2 * SharedReceiversHub.RECEIVES; message++) {
            hub.send(message % 2, 8, message);
            assertThat(hub.arrived(1).getFirst().id()).isEqualTo(message);
            hub.sent(1);
        }
        assertThat(hub.shared().freeReceives()).isEqualTo(2 * SharedReceiversHub.RECEIVES);
    }

    @Test
    void shouldNotShrinkBelowItsContent() throws VerbsException {
        Fabric.underTest().needs(Feature.RESIZING_SHARED_RECEIVE_QUEUES);
        use(SharedReceiversHub.of(1));
        hub.receive(5);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> hub.shared().resize(4))
                .withMessage(
                        "%s has 5 receives in flight, so its capacity cannot be 4"
                                .formatted(hub.shared()));
        var room = hub.completions().remainingCapacity();
        hub.shared().resize(5);

        assertThat(hub.shared().freeReceives()).isZero();
        assertThat(hub.completions().remainingCapacity())
                .isEqualTo(room + SharedReceiversHub.RECEIVES - 5);
        for (var message = 0; message < 5; message++) {
            hub.send(0, 8, message);
            assertThat(hub.arrived(1).getFirst().id()).isEqualTo(message);
        }
        hub.receive(5);
        assertThat(hub.prepareReceive(6).tryPost()).isFalse();
    }

    @Test
    void shouldRefuseToGrowBeyondTheRoomOfACompletionQueue() throws VerbsException {
        Fabric.underTest().needs(Feature.RESIZING_SHARED_RECEIVE_QUEUES);
        use(SharedReceiversHub.of(0));
        var completions = hub.device().newCompletionQueue(SharedReceiversHub.RECEIVES + 2);
        hub.domain()
                .newQueuePair(
                        QueuePairOptions.reliable(completions)
                                .sends(1)
                                .sharedReceives(hub.shared()));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> hub.shared().resize(SharedReceiversHub.RECEIVES + 2))
                .withMessageContaining("could overrun a completion queue");
        assertThat(completions.remainingCapacity()).isEqualTo(1);
        assertThat(hub.shared().capacity()).isEqualTo(SharedReceiversHub.RECEIVES);

        hub.shared().resize(SharedReceiversHub.RECEIVES + 1);
        assertThat(completions.remainingCapacity()).isZero();
    }

    @Test
    void shouldRejectInvalidSizes() throws VerbsException {
        use(SharedReceiversHub.of(0));
        var limits = hub.device().attributes();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> hub.domain().newPolledSharedReceiveQueue(0))
                .withMessage("The number of receives must be between 1 and 4194304: 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        hub.domain()
                                .newPolledSharedReceiveQueue(
                                        SharedReceiveQueueOptions.capacity(1).elements(0)))
                .withMessage("The number of slices must be between 1 and 65536: 0");
        assertThatIllegalArgumentException().isThrownBy(() -> hub.shared().resize(0));
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() ->
                        hub.domain()
                                .newPolledSharedReceiveQueue(
                                        SharedReceiveQueueOptions.capacity(1)
                                                .elements(limits.maxSharedReceiveElements() + 1)))
                .withMessageStartingWith("ibv_create_srq failed for 1 receives with ")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EINVAL));
    }

    // ---- closing a queue pair, closing the queue

    @Test
    void shouldReportTheLastReceiveOfAQueuePairInErrorAndLeaveTheOthers() throws Exception {
        use(SharedReceiversHub.of(2));
        hub.receive(4);
        hub.send(0, 8, 1);
        hub.arrived(1);

        hub.receiver(0).modify(QueuePairChange.to(QueuePairState.ERROR));

        assertThat(await(AsyncEventType.LAST_WORK_REQUEST_REACHED)).isSameAs(hub.receiver(0));
        assertThat(hub.cursor().poll()).as("flushed receives").isZero();
        for (var message = 1; message < 4; message++) {
            hub.send(1, 8, message);
            assertThat(hub.arrived(1).getFirst().id()).isEqualTo(message);
        }
    }

    @Test
    void shouldFlushTheSendsOfAQueuePairThatDrainsAndLeaveTheReceives() throws Exception {
        use(SharedReceiversHub.of(2));
        hub.receive(2);
        var failing = hub.receiver(0);
        failing.modify(QueuePairChange.to(QueuePairState.ERROR));
        hub.post(failing.prepareSend(hub.in(9, 8)).id(99));

        failing.drain(
                hub.cursor(),
                LONG,
                completions -> {
                    assertThat(completions.id()).isEqualTo(99);
                    assertThat(completions.status()).isEqualTo(CompletionStatus.FLUSHED);
                });
        failing.close();

        hub.send(1, 8, 1);
        assertThat(hub.arrived(1).getFirst().id()).isZero();
    }

    @Test
    void shouldCloseItsQueuePairsFirst() throws VerbsException {
        use(SharedReceiversHub.of(2));
        hub.receive(3);

        hub.shared().close();

        assertThat(List.of(hub.shared(), hub.receiver(0), hub.receiver(1)))
                .noneMatch(NativeObject::isOpen);
        assertThat(hub.completions().isOpen()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(() -> hub.shared().attributes())
                .withMessage(hub.shared() + " is closed");
    }

    @Test
    void shouldCloseWithItsDomain() throws VerbsException {
        use(SharedReceiversHub.of(1));

        hub.domain().close();

        assertThat(List.of(hub.shared(), hub.receiver(0))).noneMatch(NativeObject::isOpen);
    }

    @Test
    void shouldRefuseAReceiveOfAQueueThatIsClosed() throws VerbsException {
        use(SharedReceiversHub.of(1));
        var receive = hub.prepareReceive(0);
        hub.shared().close();

        assertThatIllegalStateException()
                .isThrownBy(receive::tryPost)
                .withMessage(hub.shared() + " is closed");
    }

    @Test
    void shouldNotBeDestroyedInCWhileAQueuePairUsesIt() throws Throwable {
        use(SharedReceiversHub.of(1));
        var destroy =
                Linker.nativeLinker()
                        .downcallHandle(
                                Fabric.underTest().symbols().findOrThrow("ibv_destroy_srq"),
                                FunctionDescriptor.of(JAVA_INT, ADDRESS));

        assertThat((int) destroy.invokeExact(hub.shared().address())).isEqualTo(Errno.EBUSY);

        hub.receive(1);
        hub.send(0, 8, 1);
        assertThat(hub.arrived(1)).hasSize(1);
    }

    // ---- rejections

    @Test
    void shouldRefuseAQueuePairOfAnotherDomain() throws VerbsException {
        use(SharedReceiversHub.of(0));
        var other = hub.device().newProtectionDomain();

        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        other.newQueuePair(
                                QueuePairOptions.reliable(hub.completions())
                                        .sharedReceives(hub.shared())))
                .withMessage(
                        "%s belongs to %s and cannot be used by queue pairs of %s"
                                .formatted(hub.shared(), hub.domain(), other));
    }

    @Test
    void shouldFailAQueuePairThatReceivesIntoMemoryOfAnotherDomain() throws VerbsException {
        use(SharedReceiversHub.of(1));
        var other = hub.device().newProtectionDomain().newArena(Access.LOCAL_WRITE).region(64);
        hub.post(hub.shared().prepareReceive(other.slice()).id(5));

        hub.send(0, 8, 1);

        var arrival = hub.arrived(1).getFirst();
        assertThat(arrival.id()).isEqualTo(5);
        assertThat(arrival.completion().status())
                .isEqualTo(
                        Fabric.underTest()
                                .profile()
                                .statusOf(FailureCase.RECEIVE_WITHOUT_LOCAL_WRITE_AT_RECEIVER));
        assertThat(other.segment().toArray(JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void shouldRejectReceivesOfAQueuePairWithASharedReceiveQueue() throws VerbsException {
        use(SharedReceiversHub.of(1));
        PolledQueuePair queuePair = hub.receiver(0);

        assertThat(queuePair.sharedReceives()).containsSame(hub.shared());
        assertThat(hub.sender(0).sharedReceives()).isEmpty();
        assertThat(queuePair.freeReceives()).isZero();
        assertThat(queuePair.query().receives()).isZero();
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> queuePair.prepareReceive(hub.in(0, 8)))
                .withMessage(
                        "%s uses the %s, so receives must be posted to that queue"
                                .formatted(queuePair, hub.shared()));
    }

    @Test
    void shouldAllowOnlyOneThreadToPrepareReceives() throws Exception {
        use(SharedReceiversHub.of(0));
        hub.prepareReceive(0);
        var failure = new Throwable[1];
        var other =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                hub.prepareReceive(1);
                            } catch (WrongThreadException e) {
                                failure[0] = e;
                            }
                        });
        other.join();

        assertThat(failure[0]).hasMessageContaining("The receives of " + hub.shared());
    }

    // ---- events

    /** Waits for an event of a type, and returns its subject. Skips other events. */
    private NativeObject await(AsyncEventType type) throws Exception {
        while (true) {
            var event = hub.device().nextEvent(LONG);
            if (event.type() == type) {
                return event.subject().orElseThrow();
            }
        }
    }

    private void assertNoEventOfTheQueue() throws Exception {
        try {
            while (true) {
                assertThat(hub.device().nextEvent(SHORT).type())
                        .isNotIn(
                                Set.of(
                                        AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED,
                                        AsyncEventType.SHARED_RECEIVE_QUEUE_ERROR));
            }
        } catch (FabricTimeoutException e) {
            assertThat(e).as("the timeout, because no further event arrived").isNotNull();
        }
    }
}
