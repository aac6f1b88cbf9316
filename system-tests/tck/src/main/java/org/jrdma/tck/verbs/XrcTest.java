package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.tck.verbs.Side.times;

import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.SharedReceiveQueueOptions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests extended reliable connections (XRC), where each send request names the shared receive queue
 * of the peer by its number.
 */
class XrcTest {

    private static final Duration LONG = Duration.ofSeconds(10);

    private XrcHub hub;

    @AfterEach
    void close() {
        if (hub != null) {
            hub.close();
        }
    }

    private void open(int connections) throws VerbsException {
        hub = XrcHub.of(connections);
    }

    private Completion complete(PreparedRequest<?> request) throws VerbsException {
        hub.post(request);
        return hub.sent(1).getFirst().completion();
    }

    private CompletionStatus statusOf(PreparedRequest<?> request) throws VerbsException {
        return complete(request).status();
    }

    // ---- traffic

    @Test
    void shouldDeliverAMessageToTheQueueThatTheRequestNames() throws VerbsException {
        open(1);
        var one = hub.newInbox();
        var two = hub.newInbox();
        one.receive(1);
        two.receive(2);
        assertThat(one.number()).isNotEqualTo(two.number());

        assertThat(
                        statusOf(
                                hub.sender(0)
                                        .prepareSend(hub.out(0, 3000, 7))
                                        .receiveQueue(two.number())))
                .isEqualTo(CompletionStatus.SUCCESS);
        assertThat(statusOf(hub.sender(0).prepareSend(hub.out(1, 9, 8)).receiveQueue(one.number())))
                .isEqualTo(CompletionStatus.SUCCESS);

        var second = two.arrived(1).getFirst();
        assertThat(second.id()).isEqualTo(2);
        assertThat(second.completion().kind()).isEqualTo(CompletionKind.RECEIVE);
        assertThat(second.completion().bytes()).isEqualTo(3000);
        assertThat(second.completion().queuePairNumber()).isEqualTo(hub.receiver(0).number());
        assertThat(two.bytes(2, 3000)).isEqualTo(times(3000, 7));
        assertThat(one.arrived(1).getFirst().id()).isEqualTo(1);
        assertThat(one.bytes(1, 9)).isEqualTo(times(9, 8));
    }

    @Test
    void shouldReceiveIntoOneQueueOverSeveralConnections() throws VerbsException {
        open(3);
        var inbox = hub.newInbox();
        for (var round = 0; round < 20; round++) {
            for (var connection = 0; connection < 3; connection++) {
                inbox.receive(connection);
            }
            for (var connection = 0; connection < 3; connection++) {
                hub.post(
                        hub.sender(connection)
                                .prepareSend(hub.out(connection, 100 + connection, round))
                                .receiveQueue(inbox.number()));
            }
            var queuePairs = new HashSet<Integer>();
            for (var arrival : inbox.arrived(3)) {
                queuePairs.add(arrival.completion().queuePairNumber());
                var bytes = arrival.completion().bytes();
                assertThat(inbox.bytes((int) arrival.id(), bytes)).isEqualTo(times(bytes, round));
            }
            assertThat(queuePairs).hasSize(3);
            hub.sent(3);
        }
    }

    @Test
    void shouldSendWithImmediateData() throws VerbsException {
        open(1);
        var inbox = hub.newInbox();
        inbox.receive(0);

        complete(
                hub.sender(0)
                        .prepareSend(hub.out(0, 64, 3))
                        .receiveQueue(inbox.number())
                        .immediate(0xcafe));

        assertThat(inbox.arrived(1).getFirst().completion().immediate()).hasValue(0xcafe);
    }

    @Test
    void shouldWriteAndReadMemoryInTheDomainOfTheQueue() throws VerbsException {
        open(1);
        var inbox = hub.newInbox();
        inbox.receive(5);
        var remote = inbox.memory().remote();
        inbox.place(1, 2000).segment().fill((byte) 4);

        assertThat(
                        statusOf(
                                hub.sender(0)
                                        .prepareWrite(hub.out(0, 2000, 3), remote)
                                        .receiveQueue(inbox.number())))
                .isEqualTo(CompletionStatus.SUCCESS);
        assertThat(
                        statusOf(
                                hub.sender(0)
                                        .prepareRead(hub.out(2, 2000), remote)
                                        .receiveQueue(inbox.number())
                                        .remoteOffset(XrcHub.PLACE_BYTES)))
                .isEqualTo(CompletionStatus.SUCCESS);
        complete(
                hub.sender(0)
                        .prepareWrite(hub.out(3, 10, 9), remote)
                        .receiveQueue(inbox.number())
                        .remoteOffset(2 * XrcHub.PLACE_BYTES)
                        .immediate(77));

        assertThat(inbox.bytes(0, 2000)).isEqualTo(times(2000, 3));
        assertThat(hub.out(2, 2000).segment().toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(times(2000, 4));
        var received = inbox.arrived(1).getFirst();
        assertThat(received.id()).isEqualTo(5);
        assertThat(received.completion().kind())
                .isEqualTo(CompletionKind.RECEIVE_WRITE_WITH_IMMEDIATE);
        assertThat(received.completion().immediate()).hasValue(77);
        assertThat(inbox.bytes(2, 10)).isEqualTo(times(10, 9));
    }

    @Test
    void shouldFetchAndAdd() throws VerbsException {
        open(1);
        var inbox = hub.newInbox();
        inbox.memory().segment().set(ValueLayout.JAVA_LONG, 0, 40);

        for (var former = 40L; former < 44; former++) {
            assertThat(
                            statusOf(
                                    hub.sender(0)
                                            .prepareFetchAndAdd(
                                                    hub.out(0, 8), inbox.memory().remote())
                                            .receiveQueue(inbox.number())
                                            .delta(1)))
                    .isEqualTo(CompletionStatus.SUCCESS);
            assertThat(hub.out(0, 8).segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(former);
        }
        assertThat(inbox.memory().segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(44);
    }

    @Test
    void shouldSwapOnlyAnEqualValue() throws VerbsException {
        open(1);
        var inbox = hub.newInbox();
        var swap =
                hub.sender(0)
                        .prepareCompareAndSwap(hub.out(0, 8), inbox.memory().remote())
                        .receiveQueue(inbox.number());
        inbox.memory().segment().set(ValueLayout.JAVA_LONG, 0, 5);

        complete(swap.values(6, 7));
        assertThat(inbox.memory().segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(5);
        complete(swap.values(5, 7));

        assertThat(inbox.memory().segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(7);
        assertThat(hub.out(0, 8).segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(5);
    }

    @Test
    void shouldSendByExtendedPosts() throws VerbsException {
        Fabric.underTest().needs(Feature.EXTENDED_POSTS);
        hub = XrcHub.of(1, options -> options.extendedPosts().inlineBytes(64));
        assertEachOperationSucceeds();
        var inbox = hub.newInbox();
        inbox.receive(0);
        assertThat(
                        statusOf(
                                hub.sender(0)
                                        .prepareSend(hub.out(0, 64, 6))
                                        .receiveQueue(inbox.number())
                                        .inline(true)))
                .isEqualTo(CompletionStatus.SUCCESS);
        assertThat(inbox.arrived(1)).hasSize(1);
        assertThat(inbox.bytes(0, 64)).isEqualTo(times(64, 6));
    }

    @Test
    void shouldSendImmediateDataByExtendedPosts() throws VerbsException {
        Fabric.underTest().needs(Feature.EXTENDED_POSTS);
        hub = XrcHub.of(1, options -> options.extendedPosts());
        var inbox = hub.newInbox();
        inbox.receive(0);

        complete(
                hub.sender(0)
                        .prepareSend(hub.out(0, 100, 6))
                        .receiveQueue(inbox.number())
                        .immediate(1 << 31));

        assertThat(inbox.arrived(1).getFirst().completion().immediate()).hasValue(1 << 31);
    }

    private void assertEachOperationSucceeds() throws VerbsException {
        var inbox = hub.newInbox();
        var remote = inbox.memory().remote();
        var number = inbox.number();
        var sender = hub.sender(0);
        inbox.receive(1);
        inbox.receive(2);
        inbox.memory().segment().set(ValueLayout.JAVA_LONG, 0, 1);
        for (var request :
                List.<PreparedRequest<?>>of(
                        sender.prepareFetchAndAdd(hub.out(0, 8), remote)
                                .receiveQueue(number)
                                .delta(2),
                        sender.prepareCompareAndSwap(hub.out(0, 8), remote)
                                .receiveQueue(number)
                                .values(3, 4),
                        sender.prepareRead(hub.out(1, 8), remote).receiveQueue(number),
                        sender.prepareSend(hub.out(2, 700, 5)).receiveQueue(number),
                        sender.prepareWrite(hub.out(3, 8, 6), remote)
                                .receiveQueue(number)
                                .immediate(1))) {
            assertThat(statusOf(request))
                    .as(request.toString())
                    .isEqualTo(CompletionStatus.SUCCESS);
        }
        assertThat(hub.out(1, 8).segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(4);
        assertThat(inbox.bytes(0, 8)).isEqualTo(times(8, 6));
        assertThat(inbox.arrived(2)).hasSize(2);
        assertThat(inbox.bytes(1, 700)).isEqualTo(times(700, 5));
    }

    @Test
    void shouldCompleteInExtendedCompletionQueues() throws VerbsException {
        Fabric.underTest().needs(Feature.EXTENDED_COMPLETION_QUEUES);
        open(1);
        UnaryOperator<CompletionQueueOptions> withStandardFields =
                options -> options.fields(CompletionField.STANDARD);
        var inbox = XrcHub.Inbox.in(hub.device(), hub.xrcDomain(), withStandardFields);
        inbox.receive(4);

        complete(
                hub.sender(0)
                        .prepareSend(hub.out(0, 100, 6))
                        .receiveQueue(inbox.number())
                        .immediate(3));

        var received = inbox.arrived(1).getFirst();
        assertThat(received.id()).isEqualTo(4);
        assertThat(received.completion().bytes()).isEqualTo(100);
        assertThat(received.completion().immediate()).hasValue(3);
        assertThat(received.completion().queuePairNumber()).isEqualTo(hub.receiver(0).number());
    }

    @Test
    void shouldTransferDataIntoOnDemandMemory() throws VerbsException {
        open(1);
        assertThat(hub.device().extendedAttributes().onDemand()).isTrue();
        var inbox = hub.newInbox();
        var onDemand =
                inbox.domain()
                        .newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.ON_DEMAND)
                        .region(XrcHub.PLACE_BYTES);
        inbox.queue().prepareReceive(onDemand.slice()).tryPost();

        complete(hub.sender(0).prepareSend(hub.out(0, 4000, 6)).receiveQueue(inbox.number()));
        assertThat(inbox.arrived(1).getFirst().completion().bytes()).isEqualTo(4000);
        assertThat(onDemand.slice(0, 4000).segment().toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(times(4000, 6));
        complete(
                hub.sender(0)
                        .prepareWrite(hub.out(1, 4000, 7), onDemand.remote())
                        .receiveQueue(inbox.number()));
        assertThat(onDemand.slice(0, 4000).segment().toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(times(4000, 7));
    }

    @Test
    void shouldWaitForAReceiveAndReportTheLimitOfTheQueue() throws Exception {
        open(1);
        var inbox = hub.newInbox();
        inbox.queue().limit(1);
        hub.post(hub.sender(0).prepareSend(hub.out(0, 10, 1)).receiveQueue(inbox.number()));
        assertThat(hub.sentCursor().poll()).isZero();

        inbox.receive(0);

        assertThat(hub.sent(1).getFirst().completion().status())
                .isEqualTo(CompletionStatus.SUCCESS);
        assertThat(inbox.arrived(1)).hasSize(1);
        while (true) {
            var event = hub.device().nextEvent(LONG);
            if (event.type() == AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED) {
                assertThat(event.subject()).containsSame(inbox.queue());
                break;
            }
        }
        assertThat(inbox.queue().attributes().limit()).isZero();
    }

    // ---- rejections by the peer

    @Test
    void shouldRejectAQueueThatDoesNotExist() throws Exception {
        open(1);
        var inbox = hub.newInbox();
        inbox.receive(0);

        assertThat(
                        statusOf(
                                hub.sender(0)
                                        .prepareSend(hub.out(0, 10, 1))
                                        .receiveQueue(inbox.number() ^ 1 << 20)))
                .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);

        assertThat(hub.receiver(0).query().state()).isEqualTo(QueuePairState.ERROR);
        assertAccessError();
        assertThat(inbox.cursor().poll()).isZero();
    }

    @Test
    void shouldRefuseAQueueOfAnotherXrcDomain() throws Exception {
        open(1);
        var otherInbox =
                XrcHub.Inbox.in(hub.device(), hub.device().newXrcDomain(), options -> options);
        otherInbox.receive(0);

        assertThat(
                        statusOf(
                                hub.sender(0)
                                        .prepareSend(hub.out(0, 10, 1))
                                        .receiveQueue(otherInbox.number())))
                .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);

        assertAccessError();
        assertThat(otherInbox.cursor().poll()).isZero();
    }

    private void assertAccessError() throws Exception {
        while (true) {
            var event = hub.device().nextEvent(LONG);
            if (event.type() == AsyncEventType.QUEUE_PAIR_ACCESS_ERROR) {
                assertThat(event.subject()).containsSame(hub.receiver(0));
                return;
            }
        }
    }

    @Test
    void shouldRejectMemoryOutsideTheDomainOfTheQueue() throws VerbsException {
        open(1);
        var one = hub.newInbox();
        var two = hub.newInbox();

        assertThat(
                        statusOf(
                                hub.sender(0)
                                        .prepareRead(hub.out(0, 10), one.memory().remote())
                                        .receiveQueue(two.number())))
                .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldRejectAClosedQueue() throws VerbsException {
        open(1);
        var inbox = hub.newInbox();
        inbox.receive(0);
        inbox.queue().close();

        assertThat(
                        statusOf(
                                hub.sender(0)
                                        .prepareSend(hub.out(0, 10, 1))
                                        .receiveQueue(inbox.number())))
                .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(inbox.cursor().poll()).isZero();
        assertThat(inbox.completions().remainingCapacity())
                .isEqualTo(inbox.completions().capacity());
    }

    // ---- rejections by this side

    @Test
    void shouldRejectAReceiveQueueNumberOfMoreThan24Bits() throws VerbsException {
        open(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> hub.sender(0).prepareSend(hub.out(0, 10)).receiveQueue(1 << 24))
                .withMessage(
                        "The number of a receive queue must have at most 24 bits, but is 16777216");
    }

    @Test
    void shouldRejectInvalidationOverAnExtendedConnection() throws VerbsException {
        open(1);
        var inbox = hub.newInbox();
        var send = hub.sender(0).prepareSend(hub.out(0, 10)).receiveQueue(inbox.number());
        assertThatThrownBy(() -> send.invalidating(inbox.memory().remote()))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("which does not support SEND_WITH_INVALIDATE");
    }

    @Test
    void shouldRejectAnXrcReceiveQueueForAQueuePair() throws VerbsException {
        open(0);
        var inbox = hub.newInbox();
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        inbox.domain()
                                .newQueuePair(
                                        QueuePairOptions.reliable(inbox.completions())
                                                .sends(1)
                                                .sharedReceives(inbox.queue())))
                .withMessageEndingWith(
                        "cannot be assigned to a queue pair, because senders select it by its"
                                + " number");
        var plain = inbox.domain().newPolledSharedReceiveQueue(4);
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        inbox.domain()
                                .newQueuePair(
                                        QueuePairOptions.xrcSend(inbox.completions())
                                                .sends(1)
                                                .sharedReceives(plain)))
                .withMessageEndingWith("which cannot receive");
    }

    @Test
    void shouldRejectAQueueThatCouldOverrunItsCompletionQueue() throws VerbsException {
        open(0);
        var completions = hub.device().newCompletionQueue(4);
        var domain = hub.device().newProtectionDomain();

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() ->
                        domain.newXrcSharedReceiveQueue(
                                hub.xrcDomain(),
                                completions,
                                SharedReceiveQueueOptions.capacity(5)))
                .withMessageContaining("5 receives could overrun");
        var queue =
                domain.newXrcSharedReceiveQueue(
                        hub.xrcDomain(), completions, SharedReceiveQueueOptions.capacity(3));

        assertThat(completions.remainingCapacity()).isEqualTo(1);
        assertThatIllegalArgumentException().isThrownBy(() -> queue.resize(5));
        queue.resize(4);
        assertThat(completions.remainingCapacity()).isZero();
        queue.close();
        assertThat(completions.remainingCapacity()).isEqualTo(4);
    }

    @Test
    void shouldRejectTransitionsThatTheReceivingSideDoesNotHave() throws VerbsException {
        open(0);
        var receiver = hub.xrcDomain().newReceiveQueuePair();
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> receiver.modify(QueuePairChange.to(QueuePairState.READY_TO_SEND)))
                .withMessageContaining("is not a valid queue pair transition");
        assertThat(receiver.state()).isEqualTo(QueuePairState.RESET);
        receiver.modify(
                QueuePairChange.to(QueuePairState.INIT)
                        .partitionKeyIndex(0)
                        .port(1)
                        .access(Access.REMOTE_READ));
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() ->
                        receiver.modify(
                                QueuePairChange.to(QueuePairState.READY_TO_RECEIVE)
                                        .destinationNumber(1)))
                .withMessageContaining("lacks");
        assertThat(receiver.query().state()).isEqualTo(QueuePairState.INIT);
    }

    @Test
    void shouldRejectARequestWithoutAReceiveQueueAndUseNoSlot() throws VerbsException {
        open(1);
        var sender = hub.sender(0);
        var request = sender.prepareSend(hub.out(0, 8));
        var chain = sender.prepareChain(sender.prepareSend(hub.out(1, 8)));

        assertThatIllegalArgumentException()
                .isThrownBy(request::tryPost)
                .withMessageContaining("must name the peer's shared receive queue");
        assertThatIllegalArgumentException().isThrownBy(chain::tryPost);
        assertThat(sender.freeSends()).isEqualTo(XrcHub.RECEIVES);
        assertThatThrownBy(() -> sender.prepareReceive(hub.out(0, 8)))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("cannot receive");
    }

    @Test
    void shouldRefuseAReceiveQueueOfThePeerOnOtherConnections() throws VerbsException {
        open(1);
        var reliable =
                hub.sendersDomain()
                        .newQueuePair(
                                QueuePairOptions.reliable(hub.device().newCompletionQueue(8)));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> reliable.prepareSend(hub.out(0, 8)).receiveQueue(1))
                .withMessageContaining("must not name a receive queue of the peer");
    }

    // ---- closing

    @Test
    void shouldReportTheTypesOfBothSides() throws VerbsException {
        open(1);
        var sender = hub.sender(0);
        var receiver = hub.receiver(0);

        assertThat(sender.type()).isEqualTo(QueuePairType.XRC_SEND);
        assertThat(sender.domain()).isSameAs(hub.sendersDomain());
        assertThat(receiver.type()).isEqualTo(QueuePairType.XRC_RECEIVE);
        assertThat(receiver.xrcDomain()).isSameAs(hub.xrcDomain());
        var received = receiver.query();
        assertThat(received.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(received.destinationNumber()).isEqualTo(sender.number());
        assertThat(sender.query().destinationNumber()).isEqualTo(receiver.number());
        assertThat(sender.query().access()).isEmpty();
        assertThat(hub.device().attributes().capabilities())
                .contains(DeviceCapability.EXTENDED_RELIABLE_CONNECTION);
    }

    @Test
    void shouldFlushPendingRequestsWhenTheSenderIsDrained() throws Exception {
        open(1);
        var inbox = hub.newInbox();
        for (var i = 0; i < 3; i++) {
            hub.post(
                    hub.sender(0)
                            .prepareSend(hub.out(0, 10, 1))
                            .receiveQueue(inbox.number())
                            .id(i)
                            // The request cannot complete, because no receive is posted.
                            .signaled(i == 2));
        }
        var statuses = new HashSet<CompletionStatus>();

        hub.sender(0).drain(hub.sentCursor(), LONG, cursor -> statuses.add(cursor.status()));

        assertThat(statuses).containsExactly(CompletionStatus.FLUSHED);
        assertThat(hub.sender(0).freeSends()).isEqualTo(XrcHub.RECEIVES);
    }

    @Test
    void shouldCloseWithTheirOwners() throws VerbsException {
        open(1);
        var inbox = hub.newInbox();
        var other = hub.newInbox();
        other.completions().close();
        assertThat(other.queue().isOpen()).isFalse();
        assertThat(inbox.queue().isOpen()).isTrue();

        hub.xrcDomain().close();

        assertThat(inbox.queue().isOpen()).isFalse();
        assertThat(hub.receiver(0).isOpen()).isFalse();
        assertThat(hub.sender(0).isOpen()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(() -> hub.xrcDomain().newReceiveQueuePair())
                .withMessageMatching("XRC domain .* is closed");
        assertThatIllegalStateException().isThrownBy(() -> hub.receiver(0).query());
    }

    // ---- domains shared through files

    @Test
    void shouldReceiveThroughAnotherDeviceWithTheDomainOfTheSameFile(@TempDir Path folder)
            throws Exception {
        Fabric.underTest().needs(Feature.XRC);
        Fabric.underTest().needs(Feature.MOVING_DATA);
        var file = Files.createFile(folder.resolve("domain"));
        try (var firstDevice = Fabric.underTest().open();
                var secondDevice = Fabric.underTest().open()) {
            var firstDomain = firstDevice.newXrcDomain(file);
            var receiver = firstDomain.newReceiveQueuePair();
            var inbox =
                    XrcHub.Inbox.in(
                            secondDevice, secondDevice.joinXrcDomain(file), options -> options);
            inbox.receive(3);
            var protection = firstDevice.newProtectionDomain();
            var completions = firstDevice.newCompletionQueue(8);
            var memory = protection.newArena(Pair.ALL).region(64);
            var sender = protection.newQueuePair(QueuePairOptions.xrcSend(completions).sends(2));
            receiver.connect(sender.endpoint());
            sender.connect(receiver.endpoint());

            memory.segment().fill((byte) 9);
            assertThat(sender.prepareSend(memory.slice()).receiveQueue(inbox.number()).tryPost())
                    .isTrue();

            var received = inbox.arrived(1).getFirst();
            assertThat(received.id()).isEqualTo(3);
            assertThat(received.completion().queuePairNumber()).isEqualTo(receiver.number());
            assertThat(inbox.bytes(3, 64)).isEqualTo(times(64, 9));
        }
    }

    @Test
    void shouldKeepAQueuePairOpenUntilItsLastUserClosesIt(@TempDir Path folder) throws Exception {
        Fabric.underTest().needs(Feature.XRC);
        Fabric.underTest().needs(Feature.MOVING_DATA);
        var file = Files.createFile(folder.resolve("domain"));
        try (var firstDevice = Fabric.underTest().open();
                var secondDevice = Fabric.underTest().open()) {
            var created = firstDevice.openXrcDomain(file).newReceiveQueuePair();
            var protection = secondDevice.newProtectionDomain();
            var completions = secondDevice.newCompletionQueue(8);
            var sender = protection.newQueuePair(QueuePairOptions.xrcSend(completions).sends(2));
            sender.connect(created.endpoint());
            created.connect(sender.endpoint());
            var secondDomain = secondDevice.openXrcDomain(file);
            var opened = secondDomain.openReceiveQueuePair(created.number());
            assertThat(opened.number()).isEqualTo(created.number());
            assertThat(opened.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            var inbox = XrcHub.Inbox.in(secondDevice, secondDomain, options -> options);
            inbox.receive(1);

            created.close();

            var memory = protection.newArena(Pair.ALL).region(64);
            assertThat(sender.prepareSend(memory.slice()).receiveQueue(inbox.number()).tryPost())
                    .isTrue();
            assertThat(inbox.arrived(1).getFirst().completion().status())
                    .isEqualTo(CompletionStatus.SUCCESS);
            opened.modify(QueuePairChange.to(QueuePairState.ERROR));
            assertThat(opened.query().state()).isEqualTo(QueuePairState.ERROR);
            opened.close();
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> secondDomain.openReceiveQueuePair(created.number()))
                    .withMessageContaining("ibv_open_qp");
        }
    }

    @Test
    void shouldCreateJoinOrOpenTheDomainOfAFile(@TempDir Path folder) throws Exception {
        Fabric.underTest().needs(Feature.XRC);
        var file = Files.createFile(folder.resolve("domain"));
        try (var device = Fabric.underTest().open()) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> device.joinXrcDomain(file))
                    .withMessageEndingWith("No process has a domain of this file open.")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EAGAIN));
            var created = device.newXrcDomain(file);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> device.newXrcDomain(file))
                    .withMessageEndingWith("Open it with Device.openXrcDomain().")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EINVAL));
            var joined = device.joinXrcDomain(file);
            created.close();
            device.openXrcDomain(file).close();
            joined.close();
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> device.joinXrcDomain(file));
            device.newXrcDomain(file).close();
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> device.openXrcDomain(folder.resolve("nowhere")))
                    .withMessageContaining("nowhere cannot be opened: ENOENT (2)");
        }
    }

    // ---- async operations

    @Test
    void shouldCompleteAsynchronously() throws Exception {
        Fabric.underTest().needs(Feature.XRC);
        Fabric.underTest().needs(Feature.MOVING_DATA);
        Fabric.underTest().needs(Feature.COMPLETION_EVENTS);
        try (var device = Fabric.underTest().open()) {
            var domain = device.newProtectionDomain();
            var completions = device.newCompletionDispatcher(64);
            var xrcDomain = device.newXrcDomain();
            var queue =
                    domain.newXrcSharedReceiveQueue(
                            xrcDomain, completions, SharedReceiveQueueOptions.capacity(8));
            var receiver = xrcDomain.newReceiveQueuePair();
            var sender =
                    domain.newQueuePair(
                            QueuePairOptions.xrcSend(completions).sends(8).inlineBytes(32));
            receiver.connect(sender.endpoint());
            sender.connect(receiver.endpoint());
            var memory = domain.newArena(Pair.ALL).region(4096);
            var from = memory.slice(0, 32);
            var remote = memory.slice(1024, 32).remote();
            from.segment().fill((byte) 3);

            var message = queue.receive(memory.slice(2048, 100));
            var received = queue.receive(memory.slice(3072, 0));
            var target = sender.remoteReceiveQueue(queue.number());
            target.sendWithImmediate(from, 12).await(LONG);
            target.writeWithImmediate(from, remote, 13).await(LONG);

            assertThat(message.await(LONG).immediate()).hasValue(12);
            assertThat(message.await(LONG).queuePairNumber()).isEqualTo(receiver.number());
            assertThat(received.await(LONG).immediate()).hasValue(13);
            target.read(memory.slice(512, 32), remote).await(LONG);
            assertThat(memory.slice(512, 32).segment().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(times(32, 3));
            var counter = memory.slice(4000, 8);
            counter.segment().set(ValueLayout.JAVA_LONG, 0, 1);
            target.fetchAndAdd(memory.slice(0, 8), counter.remote(), 4).await(LONG);
            target.compareAndSwap(memory.slice(0, 8), counter.remote(), 5, 6).await(LONG);
            assertThat(counter.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(6);
            var next = queue.receive(memory.slice(2048, 100));
            target.write(from, remote).await(LONG);
            target.send(from).await(LONG);
            assertThat(next.await(LONG).bytes()).isEqualTo(32);
            assertThatIllegalArgumentException().isThrownBy(() -> sender.remoteReceiveQueue(-1));
            sender.drain(LONG);
            var pending = queue.receive(memory.slice(2048, 100));
            queue.close();
            assertThatThrownBy(() -> pending.await(LONG)).isInstanceOf(IllegalStateException.class);
        }
    }

    // ---- without support for XRC

    @Test
    void shouldReportThatExtendedConnectionsAreNotSupported(@TempDir Path folder) throws Exception {
        Fabric.underTest().needsLackOf(Feature.XRC);
        var file = Files.createFile(folder.resolve("domain"));
        try (var device = Fabric.underTest().open()) {
            assertThat(device.attributes().capabilities())
                    .doesNotContain(DeviceCapability.EXTENDED_RELIABLE_CONNECTION);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> device.newXrcDomain())
                    .withMessageContaining("ibv_open_xrcd")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EOPNOTSUPP));
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> device.openXrcDomain(file))
                    .withMessageContaining("ibv_open_xrcd");
            var domain = device.newProtectionDomain();
            var completions = device.newCompletionQueue(4);
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() ->
                            domain.newQueuePair(QueuePairOptions.xrcSend(completions).sends(1)))
                    .withMessageContaining("sending side of an extended reliable connection (XRC)");
        }
    }
}
