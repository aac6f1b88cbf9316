package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.soft.roce.packet.RouteHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;

/** Tests unreliable connections and datagrams. */
class UnreliableTest {

    @Test
    void shouldTransferSendsAndWritesOverAnUnreliableConnection() {
        var pair = new EnginePair(Transport.UNRELIABLE, 1);
        pair.connect(1024, 0xfffffe);
        pair.left.fill(0, 5_000, 1);
        pair.right.receive(9, 0, 5_000);
        send(pair.left, 1, 5_000);
        pair.left
                .work(2, SendOperationKind.WRITE)
                .buffer(pair.left.start, 5_000, pair.left.region.key())
                .remote(pair.right.start + 10_000, pair.right.region.key());
        pair.left.post();
        pair.run();
        assertThat(pair.left.done).extracting(EnginePair.Done::id).containsExactly(1L, 2L);
        assertThat(pair.right.done).extracting(EnginePair.Done::id).containsExactly(9L);
        assertThat(pair.left.holds(0, 5_000, pair.right, 0)).isTrue();
        assertThat(pair.left.holds(0, 5_000, pair.right, 10_000)).isTrue();
    }

    @Test
    void shouldDeliverOnlyWholeMessagesOverALossyUnreliableConnection() {
        var pair = new EnginePair(Transport.UNRELIABLE, 2);
        pair.connect(256, 0xfffff0);
        pair.faults = new EnginePair.Faults(0.05, 0, 0, 0.01);
        pair.left.fill(0, 1_000, 1);
        for (var i = 0; i < 200; i++) {
            pair.right.receive(i, 0, 1_000);
        }
        for (var i = 0; i < 200; i++) {
            send(pair.left, i, 1_000);
        }
        pair.run();
        assertThat(pair.left.done).hasSize(200);
        assertThat(pair.right.done).hasSizeBetween(100, 199);
        assertThat(pair.right.done)
                .allMatch(
                        done -> done.status() == CompletionStatus.SUCCESS && done.bytes() == 1_000);
        assertThat(pair.left.holds(0, 1_000, pair.right, 0)).isTrue();
    }

    @Test
    void shouldSilentlyDropAWriteThatIsNotPermitted() {
        var pair = new EnginePair(Transport.UNRELIABLE, 1);
        pair.connect(1024, 0);
        pair.left
                .work(2, SendOperationKind.WRITE)
                .buffer(pair.left.start, 5_000, pair.left.region.key())
                .remote(pair.right.start + EnginePair.REGION - 4_999, pair.right.region.key());
        pair.left.post();
        pair.run();
        assertThat(pair.right.guardsAreIntact()).isTrue();
        assertThat(pair.right.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void shouldWriteARouteHeaderBeforeTheDataOfADatagram() {
        var pair = new EnginePair(Transport.DATAGRAM, 1);
        pair.connect(1024, 0);
        pair.left.fill(0, 100, 1);
        pair.right.receive(9, 0, RouteHeader.BYTES + 100);
        datagram(pair, 1, 100, 0x1234);
        pair.run();
        assertThat(pair.left.done).extracting(EnginePair.Done::id).containsExactly(1L);
        assertThat(pair.right.done).hasSize(1);
        assertThat(pair.right.done.getFirst().bytes()).isEqualTo(140);
        assertThat(pair.right.done.getFirst().sourceQueuePair())
                .isEqualTo(pair.left.queuePair.number());
        assertThat(pair.left.holds(0, 100, pair.right, RouteHeader.BYTES)).isTrue();
    }

    @Test
    void shouldDropDatagramsThatAreTooLongOrHaveAWrongQueueKey() {
        var pair = new EnginePair(Transport.DATAGRAM, 1);
        pair.connect(1024, 0);
        pair.right.receive(9, 0, RouteHeader.BYTES + 99);
        datagram(pair, 1, 100, 0x1234);
        datagram(pair, 2, 10, 0x1235);
        pair.run();
        assertThat(pair.right.done).isEmpty();
        datagram(pair, 3, 99, 0x1234);
        pair.run();
        assertThat(pair.right.done).extracting(EnginePair.Done::id).containsExactly(9L);
    }

    @Test
    void shouldRejectADatagramLongerThanThePathMtuAndContinueReceiving() {
        var pair = new EnginePair(Transport.DATAGRAM, 1);
        pair.connect(1024, 0);
        datagram(pair, 1, 1_025, 0x1234);
        pair.run();
        assertThat(pair.left.done.getFirst().status())
                .isEqualTo(CompletionStatus.LOCAL_LENGTH_ERROR);
        assertThat(pair.left.queuePair.state()).isEqualTo(QueuePairState.SEND_QUEUE_ERROR);
    }

    private static void datagram(EnginePair pair, long id, int bytes, int queueKey) {
        pair.left
                .work(id, SendOperationKind.SEND)
                .buffer(pair.left.start, bytes, pair.left.region.key())
                .datagram(pair.right.address, pair.right.queuePair.number(), queueKey);
        pair.left.post();
    }

    private static void send(EnginePair.Side side, long id, int bytes) {
        side.work(id, SendOperationKind.SEND).buffer(side.start, bytes, side.region.key());
        side.post();
    }
}
