package org.jrdma.tck.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.verbs.Side.times;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.AsyncSharedReceiveQueue;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.SharedReceiveQueueOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests {@code AsyncSharedReceiveQueue}: asynchronous receives that several queue pairs share. */
class AsyncSharedReceiveQueueTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration SLOT_TIMEOUT = Duration.ofMillis(100);
    private static final int CAPACITY = 8;
    private static final int BYTES = 512;

    private Device device;
    private ProtectionDomain domain;
    private CompletionDispatcher completions;
    private MemoryRegion incoming;
    private MemoryRegion outgoing;
    private AsyncSharedReceiveQueue shared;
    private final List<AsyncQueuePair> senders = new ArrayList<>();
    private final List<AsyncQueuePair> receivers = new ArrayList<>();

    private void open(int connections) throws VerbsException {
        var fabric = Fabric.underTest();
        fabric.needs(Feature.SHARED_RECEIVE_QUEUES);
        fabric.needs(Feature.COMPLETION_EVENTS);
        if (connections > 0) {
            fabric.needs(Feature.MOVING_DATA);
            fabric.needs(Feature.CONNECTING_BY_MODIFY);
        }
        device = fabric.open();
        domain = device.newProtectionDomain();
        completions = device.newCompletionDispatcher(128);
        var memory = domain.newArena(Pair.ALL);
        incoming = memory.region(64 * BYTES);
        outgoing = memory.region(64 * BYTES);
        shared =
                domain.newAsyncSharedReceiveQueue(
                        SharedReceiveQueueOptions.capacity(CAPACITY)
                                .elements(2)
                                .slotTimeout(SLOT_TIMEOUT));
        for (var i = 0; i < connections; i++) {
            var sender =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(completions).sends(8).receives(1));
            var receiver =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(completions).sends(1).sharedReceives(shared));
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            senders.add(sender);
            receivers.add(receiver);
        }
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    private Transfer receive(int place) throws Exception {
        return shared.receive(incoming.slice((long) place * BYTES, BYTES));
    }

    private Completion send(int connection, int place, int bytes) throws Exception {
        var message = outgoing.slice((long) place * BYTES, bytes);
        message.segment().fill((byte) place);
        return senders.get(connection).send(message).await(TIMEOUT);
    }

    @Test
    void shouldReportWhichQueuePairUsedAReceive() throws Exception {
        open(3);
        var transfers = new ArrayList<Transfer>();
        for (var place = 0; place < 6; place++) {
            transfers.add(receive(place));
        }

        for (var place = 0; place < 6; place++) {
            send(place % 3, place, 100 + place);
            var completion = transfers.get(place).await(TIMEOUT);
            assertThat(completion.bytes()).isEqualTo(100 + place);
            assertThat(completion.queuePairNumber()).isEqualTo(receivers.get(place % 3).number());
            assertThat(completion.source()).isEmpty();
            assertThat(incoming.slice((long) place * BYTES, 100).segment().toArray(JAVA_BYTE))
                    .isEqualTo(times(100, place));
        }
    }

    @Test
    void shouldServeManyThreadsThatReceiveAndSendConcurrently() throws Exception {
        open(4);
        var rounds = 50;
        var messagesByQueuePair = new HashMap<Integer, Integer>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var received =
                    IntStream.range(0, CAPACITY / 2)
                            .mapToObj(place ->
                                    threads.submit(() -> {
                                        var numbers = new ArrayList<Integer>();
                                        for (var round = 0; round < rounds; round++) {
                                            numbers.add(
                                                    receive(place)
                                                            .await(TIMEOUT)
                                                            .queuePairNumber());
                                        }
                                        return numbers;
                                    }))
                            .toList();
            var sent =
                    IntStream.range(0, 4)
                            .mapToObj(connection ->
                                    threads.submit(() -> {
                                        for (var round = 0; round < rounds; round++) {
                                            send(connection, 32 + connection, 64);
                                        }
                                        return connection;
                                    }))
                            .toList();
            for (var sender : sent) {
                sender.get();
            }
            for (var numbers : received) {
                numbers.get().forEach(number -> messagesByQueuePair.merge(number, 1, Integer::sum));
            }
        }
        for (var receiver : receivers) {
            assertThat(messagesByQueuePair).containsEntry(receiver.number(), rounds);
        }
    }

    @Test
    void shouldServeDatagramsAndReportTheirSource() throws Exception {
        Fabric.underTest().needs(Feature.DATAGRAMS);
        Fabric.underTest().needs(Feature.MOVING_DATA);
        open(0);
        var sender =
                domain.newQueuePair(QueuePairOptions.datagrams(completions).sends(2).receives(1));
        var receiver =
                domain.newQueuePair(
                        QueuePairOptions.datagrams(completions).sends(1).sharedReceives(shared));
        sender.activate(DatagramSide.QUEUE_KEY);
        receiver.activate(DatagramSide.QUEUE_KEY);
        var transfer = receive(0);

        sender.send(
                        outgoing.slice(0, 100),
                        new Destination(
                                domain.newAddressHandle(sender.addressOf(receiver.endpoint())),
                                receiver.number(),
                                DatagramSide.QUEUE_KEY))
                .await(TIMEOUT);

        var completion = transfer.await(TIMEOUT);
        assertThat(completion.bytes()).isEqualTo(DatagramSide.HEADER + 100);
        assertThat(completion.source().orElseThrow().queuePairNumber()).isEqualTo(sender.number());
    }

    @Test
    void shouldWaitForAFreeSlotAndReportATimeout() throws Exception {
        open(1);
        for (var place = 0; place < CAPACITY; place++) {
            receive(place);
        }

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> receive(CAPACITY))
                .withMessageStartingWith("No free slot in the " + shared + " within");

        send(0, 1, 8);
        var late = receive(CAPACITY);
        for (var i = 0; i < CAPACITY; i++) {
            send(0, 1, 8);
        }
        assertThat(late.await(TIMEOUT).bytes()).isEqualTo(8);
    }

    @Test
    void shouldGrowAndShrinkButNotBelowItsPendingReceives() throws Exception {
        Fabric.underTest().needs(Feature.RESIZING_SHARED_RECEIVE_QUEUES);
        open(1);
        var transfers = new ArrayList<Transfer>();
        for (var place = 0; place < CAPACITY; place++) {
            transfers.add(receive(place));
        }
        shared.resize(CAPACITY + 2);
        transfers.add(receive(CAPACITY));
        transfers.add(receive(CAPACITY + 1));

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> receive(CAPACITY + 2));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> shared.resize(CAPACITY + 1))
                .withMessage(
                        "%s has %d receives in flight, so its capacity cannot be %d"
                                .formatted(shared, CAPACITY + 2, CAPACITY + 1));
        for (var transfer : transfers) {
            send(0, 1, 8);
            transfer.await(TIMEOUT);
        }
        var room = completions.remainingCapacity();
        shared.resize(1);

        assertThat(completions.remainingCapacity()).isEqualTo(room + CAPACITY + 1);
        var only = receive(0);
        assertThatExceptionOfType(FabricTimeoutException.class).isThrownBy(() -> receive(1));
        send(0, 1, 8);
        only.await(TIMEOUT);
    }

    @Test
    void shouldKeepItsSizeWhenACompletionQueueHasNoRoom() throws Exception {
        Fabric.underTest().needs(Feature.RESIZING_SHARED_RECEIVE_QUEUES);
        open(1);

        for (var capacity : new int[] {0, 1000}) {
            assertThatIllegalArgumentException().isThrownBy(() -> shared.resize(capacity));
            assertThat(shared.capacity()).isEqualTo(CAPACITY);
        }

        for (var place = 0; place < CAPACITY; place++) {
            receive(place);
        }
        assertThatExceptionOfType(FabricTimeoutException.class).isThrownBy(() -> receive(CAPACITY));
    }

    @Test
    void shouldLeaveReceivesToOtherQueuePairsWhenOneDrainsAndCloses() throws Exception {
        open(2);
        var first = receive(0);
        receivers.get(0).drain(TIMEOUT);
        receivers.get(0).close();
        assertThat(first.isCompleted()).isFalse();

        send(1, 3, 8);

        assertThat(first.await(TIMEOUT).queuePairNumber()).isEqualTo(receivers.get(1).number());
    }

    @Test
    void shouldFailPendingTransfersWhenItIsClosed() throws Exception {
        open(1);
        var transfer = receive(0);

        shared.close();

        assertThatIllegalStateException()
                .isThrownBy(() -> transfer.await(TIMEOUT))
                .withMessage(shared + " was closed before RECEIVE completed");
        assertThatIllegalStateException()
                .isThrownBy(() -> receive(1))
                .withMessage(shared + " is closed");
        assertThat(receivers.get(0).isOpen()).isFalse();
        assertThat(senders.get(0).isOpen()).isTrue();
    }

    @Test
    void shouldRejectQueuePairsWithAnotherKindOfCompletionQueue() throws Exception {
        open(0);
        var polled = domain.newPolledSharedReceiveQueue(4);
        var queue = device.newCompletionQueue(64);

        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        domain.newQueuePair(
                                QueuePairOptions.reliable(queue).sharedReceives(shared)))
                .withMessageStartingWith("The " + shared + " completes into dispatchers");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        domain.newQueuePair(
                                QueuePairOptions.reliable(completions).sharedReceives(polled)))
                .withMessageStartingWith("The " + polled + " is polled");
    }

    @Test
    void shouldRejectTooManySlicesAndReceivesPostedToItsQueuePairs() throws Exception {
        open(1);
        var slice = incoming.slice(0, 8);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> shared.receive(List.of(slice, slice, slice)))
                .withMessage(
                        "A request of "
                                + shared
                                + " can have at most 2 slices of memory, but has 3");
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> receivers.get(0).receive(slice))
                .withMessage(
                        "%s uses the %s, so receives must be posted to that queue"
                                .formatted(receivers.get(0), shared));
    }
}
