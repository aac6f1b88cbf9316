package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.tck.verbs.Side.times;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests queue pairs of unreliable connections. Data that arrives must be correct, and lost data
 * must not cause an error.
 */
class UnreliableConnectionTest {

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int CANARY = 0x5a;

    private Pair pair;
    private Side left;
    private Side right;

    @BeforeEach
    void open() throws VerbsException {
        pair = Pair.unreliable();
        left = pair.left();
        right = pair.right();
        left.fill(0x11);
        right.fill(CANARY);
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    @Test
    void shouldReportItsTypeAndState() throws VerbsException {
        assertThat(left.queuePair().type()).isEqualTo(QueuePairType.UNRELIABLE_CONNECTION);
        assertThat(left.queuePair().query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(left.queuePair().query().destinationNumber())
                .isEqualTo(right.queuePair().number());
    }

    @Test
    void shouldReportTheAttributesOfItsConnection() throws VerbsException {
        var attributes = left.queuePair().query();
        var peer = right.queuePair().endpoint();

        assertThat(attributes.pathMtu()).contains(pair.device().port(1).activeMtu());
        assertThat(attributes.receiveSequence()).isEqualTo(peer.packetSequence());
        assertThat(attributes.sendSequence())
                .isEqualTo(left.queuePair().endpoint().packetSequence());
        assertThat(attributes.address().route().orElseThrow().destination()).isEqualTo(peer.gid());
        assertThat(attributes.port()).isEqualTo(1);
        assertThat(attributes.sends()).isGreaterThanOrEqualTo(16);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1000, 1024, 1025, 40_000})
    void shouldSendMessagesBothWays(int bytes) throws VerbsException {
        right.post(right.queuePair().prepareReceive(right.region().slice(0, bytes)));
        var sent = left.complete(left.queuePair().prepareSend(left.region().slice(0, bytes)));
        var received = right.next();

        assertThat(sent.isSuccess()).isTrue();
        assertThat(sent.kind()).isEqualTo(CompletionKind.SEND);
        assertThat(received.isSuccess()).isTrue();
        assertThat(received.kind()).isEqualTo(CompletionKind.RECEIVE);
        assertThat(received.bytes()).isEqualTo(bytes);
        assertThat(received.immediate()).isEmpty();
        assertThat(received.source()).isEmpty();
        assertThat(right.bytes(0, bytes)).isEqualTo(times(bytes, 0x11));
        assertThat(right.bytes(bytes, 16)).isEqualTo(times(16, CANARY));

        right.fill(0x22);
        left.post(left.queuePair().prepareReceive(left.region().slice(0, bytes)));
        assertThat(
                        right.complete(
                                        right.queuePair()
                                                .prepareSend(right.region().slice(0, bytes)))
                                .isSuccess())
                .isTrue();
        assertThat(left.next().bytes()).isEqualTo(bytes);
        assertThat(left.bytes(0, bytes)).isEqualTo(times(bytes, 0x22));
    }

    @Test
    void shouldSendImmediateData() throws VerbsException {
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 64)));
        left.complete(
                left.queuePair().prepareSend(left.region().slice(0, 8)).immediate(0xcafe_babe));

        var received = right.next();

        assertThat(received.immediate()).hasValue(0xcafe_babe);
        assertThat(received.bytes()).isEqualTo(8);
    }

    @Test
    void shouldWrite() throws VerbsException {
        var write =
                left.queuePair()
                        .prepareWrite(left.region().slice(0, 5000), right.region().remote());

        assertThat(left.complete(write.remoteOffset(100)).kind()).isEqualTo(CompletionKind.WRITE);

        // When this later message has arrived, the write has arrived, too, because messages and
        // writes stay in order.
        awaitMessage();
        assertThat(right.bytes(100, 5000)).isEqualTo(times(5000, 0x11));
        assertThat(right.bytes(0, 100)).isEqualTo(times(100, CANARY));
        assertThat(right.bytes(5100, 100)).isEqualTo(times(100, CANARY));
    }

    @Test
    void shouldWriteWithImmediateData() throws VerbsException {
        right.post(right.queuePair().prepareReceive(List.of()));
        var write =
                left.queuePair()
                        .prepareWrite(left.region().slice(0, 3000), right.region().remote());

        assertThat(left.complete(write.immediate(42)).isSuccess()).isTrue();

        var received = right.next();
        assertThat(received.kind()).isEqualTo(CompletionKind.RECEIVE_WRITE_WITH_IMMEDIATE);
        assertThat(received.immediate()).hasValue(42);
        assertThat(received.bytes()).isEqualTo(3000);
        assertThat(right.bytes(0, 3000)).isEqualTo(times(3000, 0x11));
    }

    @Test
    void shouldDropAMessageWithoutAReceive() throws VerbsException {
        var lost = left.complete(left.queuePair().prepareSend(left.region().slice(0, 3000)));

        assertThat(lost.status()).isEqualTo(CompletionStatus.SUCCESS);
        awaitArrivalOfALaterWrite();

        left.fill(0x22);
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 4096)).id(7));
        left.complete(left.queuePair().prepareSend(left.region().slice(0, 100)));
        var received = right.take(1).getFirst();
        assertThat(received.id()).isEqualTo(7);
        assertThat(received.completion().bytes()).isEqualTo(100);
        assertThat(right.bytes(0, 100)).isEqualTo(times(100, 0x22));
        assertThat(right.bytes(100, 2900)).isEqualTo(times(2900, CANARY));
        assertThat(left.queuePair().query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void shouldDropAWriteWithAWrongKey() throws VerbsException {
        var remote = right.region().remote();
        var wrong = new RemoteMemory(remote.address(), ~remote.key(), remote.length());

        var written =
                left.complete(left.queuePair().prepareWrite(left.region().slice(0, 100), wrong));

        assertThat(written.status()).isEqualTo(CompletionStatus.SUCCESS);
        awaitArrivalOfALaterWrite();
        assertThat(right.bytes(0, 100)).isEqualTo(times(100, CANARY));
    }

    @Test
    void shouldRefuseReadsAndAtomics() {
        var queuePair = left.queuePair();
        var local = left.region().slice(0, 8);
        var remote = right.region().remote();

        assertThatThrownBy(() -> queuePair.prepareRead(local, remote))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("unreliable connection (UC), which does not support READ");
        assertThatThrownBy(() -> queuePair.prepareCompareAndSwap(local, remote))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("COMPARE_AND_SWAP");
        assertThatThrownBy(() -> queuePair.prepareFetchAndAdd(local, remote))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("FETCH_AND_ADD");
    }

    @Test
    void shouldRejectAttributesOfReliableConnections() throws VerbsException {
        try (var queuePair =
                left.domain()
                        .newQueuePair(
                                QueuePairOptions.unreliable(left.completions())
                                        .sends(1)
                                        .receives(1))) {
            queuePair.modify(
                    QueuePairChange.to(QueuePairState.INIT).partitionKeyIndex(0).port(1).access());

            assertThatThrownBy(() ->
                            queuePair.modify(
                                    QueuePairChange.to(QueuePairState.READY_TO_RECEIVE)
                                            .receiverNotReadyTimer(Duration.ofMillis(1))))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining(
                            "lacks [ADDRESS, PATH_MTU, RECEIVE_SEQUENCE, DESTINATION_NUMBER]")
                    .hasMessageContaining("must not change [RECEIVER_NOT_READY_TIMER]");
        }
    }

    @Test
    void shouldDrainUnsignaledRequests() throws Exception {
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 64)));
        for (var i = 0; i < 5; i++) {
            left.post(left.queuePair().prepareSend(left.region().slice(0, 64)).signaled(false));
        }
        var flushed = new ArrayList<CompletionStatus>();

        left.queuePair().drain(left.cursor(), LONG, cursor -> flushed.add(cursor.status()));

        assertThat(left.queuePair().freeSends()).isEqualTo(Pair.REQUESTS);
        assertThat(flushed).allMatch(status -> status == CompletionStatus.FLUSHED);
    }

    @Test
    void shouldCompleteAsynchronously() throws Exception {
        var device = pair.device();
        var domain = device.newProtectionDomain();
        var completions = device.newCompletionDispatcher(32);
        var memory = domain.newArena(Pair.ALL).region(8192);
        try (var sender =
                        domain.newQueuePair(
                                QueuePairOptions.unreliable(completions).sends(4).receives(4));
                var receiver =
                        domain.newQueuePair(
                                QueuePairOptions.unreliable(completions).sends(4).receives(4))) {
            sender.connect(receiver.endpoint(), DirectConnectOptions.DEFAULT);
            receiver.connect(sender.endpoint());
            memory.segment().setString(0, "Saluton, mondo");

            var receive = receiver.receive(memory.slice(4096, 64));
            sender.send(memory.slice(0, 15)).await(LONG);
            assertThat(receive.await(LONG).bytes()).isEqualTo(15);
            assertThat(memory.segment().getString(4096)).isEqualTo("Saluton, mondo");

            var notified = receiver.receive(List.of());
            sender.writeWithImmediate(memory.slice(0, 15), memory.remote().slice(5000, 15), 9)
                    .await(LONG);
            assertThat(notified.await(LONG).immediate()).hasValue(9);
            assertThat(memory.segment().getString(5000)).isEqualTo("Saluton, mondo");

            assertThatThrownBy(() -> sender.read(memory.slice(0, 8), memory.remote()))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("READ");
            assertThatThrownBy(() -> sender.fetchAndAdd(memory.slice(0, 8), memory.remote(), 1))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("FETCH_AND_ADD");
            assertThatThrownBy(
                            () -> sender.compareAndSwap(memory.slice(0, 8), memory.remote(), 0, 1))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("COMPARE_AND_SWAP");
        }
    }

    /**
     * Waits until a later write has arrived, because the completion of a request does not mean that
     * its data has arrived.
     */
    private void awaitArrivalOfALaterWrite() throws VerbsException {
        var end = Pair.REGION_BYTES - Long.BYTES;
        var last =
                left.queuePair().prepareWrite(left.region().slice(0, 8), right.region().remote());
        assertThat(left.complete(last.remoteOffset(end)).isSuccess()).isTrue();
        var deadline = System.nanoTime() + LONG.toNanos();
        while (right.region().readLongAcquire(end) != 0x1111_1111_1111_1111L) {
            assertThat(System.nanoTime() - deadline)
                    .as("nanoseconds beyond the deadline")
                    .isNegative();
        }
    }

    private void awaitMessage() throws VerbsException {
        right.post(right.queuePair().prepareReceive(right.region().slice(60_000, 8)));
        left.complete(left.queuePair().prepareSend(left.region().slice(0, 8)));
        assertThat(right.next().isSuccess()).isTrue();
    }
}
