package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests reliable connections from the left to the right side. */
class ReliableConnectionTest {

    private static final long MILLISECOND = 1_000_000;
    private static final int NEAR_WRAP = 0xffffff - 3;
    private static final long TARGET = 512 << 10;

    private final EnginePair pair = new EnginePair(Transport.RELIABLE, 1);
    private final EnginePair.Side left = pair.left;
    private final EnginePair.Side right = pair.right;

    @ParameterizedTest
    @ValueSource(ints = {256, 512, 1024, 2048, 4096})
    void shouldTransferMessagesOfEveryLengthAcrossTheSequenceNumberWrap(int mtu) {
        for (var bytes : new int[] {0, 1, mtu - 1, mtu, mtu + 1, 2 * mtu, 70 * mtu + 3}) {
            for (var operation :
                    List.of(
                            SendOperationKind.SEND,
                            SendOperationKind.WRITE,
                            SendOperationKind.READ)) {
                for (var immediate : new boolean[] {false, true}) {
                    if (operation != SendOperationKind.READ || !immediate) {
                        assertTransfers(mtu, bytes, operation, immediate);
                    }
                }
            }
        }
    }

    /** Transfers one message, and verifies its data and completions. */
    private static void assertTransfers(
            int mtu, int bytes, SendOperationKind operation, boolean immediate) {
        var pair = new EnginePair(Transport.RELIABLE, bytes);
        var left = pair.left;
        var right = pair.right;
        pair.connect(mtu, NEAR_WRAP);
        left.fill(0, bytes, 1);
        right.fill(TARGET, bytes, 2);
        right.receive(99, TARGET, bytes);
        var work =
                left.work(7, operation)
                        .solicited()
                        .buffer(left.start, bytes / 3, left.region.key())
                        .buffer(left.start + bytes / 3, bytes - bytes / 3, left.region.key())
                        .remote(right.start + TARGET, right.region.key());
        if (immediate) {
            work.immediate(0xfeedface);
        }
        left.post();
        pair.run();

        var description = "%s of %d bytes at MTU %d".formatted(operation, bytes, mtu);
        assertThat(left.done).as(description).hasSize(1);
        assertThat(left.done.getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(left.done.getFirst().kind()).isEqualTo(CompletionKind.of(operation));
        assertThat(left.holds(0, bytes, right, TARGET)).as(description).isTrue();
        assertThat(left.guardsAreIntact() && right.guardsAreIntact()).isTrue();
        if (operation == SendOperationKind.SEND || immediate) {
            var kind =
                    operation == SendOperationKind.SEND
                            ? CompletionKind.RECEIVE
                            : CompletionKind.RECEIVE_WRITE_WITH_IMMEDIATE;
            assertThat(right.done)
                    .containsExactly(
                            new EnginePair.Done(
                                    99,
                                    CompletionStatus.SUCCESS,
                                    kind,
                                    bytes,
                                    immediate,
                                    immediate ? 0xfeedface : 0,
                                    true,
                                    left.queuePair.number()));
        } else {
            assertThat(right.done).isEmpty();
        }
    }

    @Test
    void shouldExecuteAtomicsAndReturnThePreviousValue() {
        pair.connect(1024, NEAR_WRAP);
        right.memory.set(ValueLayout.JAVA_LONG, 64, 40);
        atomic(1, SendOperationKind.FETCH_AND_ADD, 2, 0, 0);
        atomic(2, SendOperationKind.COMPARE_AND_SWAP, 100, 42, 8);
        atomic(3, SendOperationKind.COMPARE_AND_SWAP, 200, 42, 16);
        pair.run();
        assertThat(left.done).extracting(EnginePair.Done::id).containsExactly(1L, 2L, 3L);
        assertThat(left.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(40);
        assertThat(left.memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);
        assertThat(left.memory.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(100);
        assertThat(right.memory.get(ValueLayout.JAVA_LONG, 64)).isEqualTo(100);
    }

    private void atomic(
            long id, SendOperationKind operation, long swapOrAdd, long compare, long result) {
        left.work(id, operation)
                .buffer(left.start + result, 8, left.region.key())
                .remote(right.start + 64, right.region.key())
                .atomic(swapOrAdd, compare);
        left.post();
    }

    /** Lost, duplicated, delayed and damaged packets must not affect the result. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void shouldExecuteThousandsOfOperationsOnceAndInOrderOverALossyLink(long seed) {
        var operations = 4_000;
        var lossy = new EnginePair(Transport.RELIABLE, seed);
        lossy.connect(
                seed % 2 == 0 ? 256 : 1024, 0xfffff0, 8, 7, 7, seed == 3 ? 1 : 4, EnginePair.ALL);
        lossy.faults = new EnginePair.Faults(0.05, 0.05, 0.05, 0.01);
        var random = new Random(seed);
        var from = lossy.left;
        var to = lossy.right;
        from.fill(0, EnginePair.REGION / 2, (int) seed);
        var posted = 0;
        var completed = 0;
        var added = 0L;
        var received = 0;
        var receivesPosted = 0;
        var sent = new ArrayList<Integer>();
        while (completed < operations) {
            while (posted < operations && posted - completed < 32) {
                var bytes = random.nextInt(8) == 0 ? random.nextInt(9_000) : random.nextInt(300);
                var slot = (posted % 32) * 16_384L;
                var kind = random.nextInt(5);
                var operation =
                        switch (kind) {
                            case 0, 1 -> SendOperationKind.SEND;
                            case 2 -> SendOperationKind.WRITE;
                            case 3 -> SendOperationKind.READ;
                            default -> SendOperationKind.FETCH_AND_ADD;
                        };
                var work = from.work(posted, operation).remote(to.start + slot, to.region.key());
                switch (operation) {
                    case SEND -> {
                        work.buffer(from.start + slot, bytes, from.region.key());
                        work.immediate(posted);
                        sent.add(posted);
                    }
                    case FETCH_AND_ADD -> {
                        work.buffer(from.start + EnginePair.REGION - 256, 8, from.region.key())
                                .remote(to.start + EnginePair.REGION - 8, to.region.key())
                                .atomic(1, 0);
                        added++;
                    }
                    default -> work.buffer(from.start + slot, bytes, from.region.key());
                }
                from.post();
                posted++;
            }
            while (receivesPosted - received < 8) {
                to.receive(receivesPosted++, TARGET, 16_384);
            }
            lossy.run(lossy.now + MILLISECOND);
            for (var done : from.done) {
                assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
                assertThat(done.id()).isEqualTo(completed);
                completed++;
            }
            from.done.clear();
            for (var done : to.done) {
                assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
                assertThat(done.id()).isEqualTo(received);
                assertThat(done.immediate()).isEqualTo(sent.get(received));
                received++;
            }
            to.done.clear();
            assertThat(lossy.now).isLessThan(600_000 * MILLISECOND);
        }
        assertThat(received).isEqualTo(sent.size());
        assertThat(to.memory.get(ValueLayout.JAVA_LONG, EnginePair.REGION - 8)).isEqualTo(added);
        assertThat(from.guardsAreIntact() && to.guardsAreIntact()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13})
    void shouldLoseNoByteOfLongMessagesOverALossyLink(long seed) {
        var lossy = new EnginePair(Transport.RELIABLE, seed);
        lossy.connect(1024, 0xfffff0, 8, 7, 7, 2, EnginePair.ALL);
        lossy.faults = new EnginePair.Faults(0.05, 0.05, 0.05, 0.01);
        for (var round = 0; round < 12; round++) {
            var bytes = 400_000 + round;
            var operation =
                    round % 3 == 0
                            ? SendOperationKind.SEND
                            : round % 3 == 1 ? SendOperationKind.WRITE : SendOperationKind.READ;
            lossy.left.fill(0, bytes, round);
            lossy.right.fill(TARGET, bytes, 100 + round);
            if (operation == SendOperationKind.SEND) {
                lossy.right.receive(round, TARGET, bytes);
            }
            lossy.left
                    .work(round, operation)
                    .buffer(lossy.left.start, bytes, lossy.left.region.key())
                    .remote(lossy.right.start + TARGET, lossy.right.region.key());
            lossy.left.post();
            lossy.run();
            assertThat(lossy.left.done.getLast().status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(lossy.left.holds(0, bytes, lossy.right, TARGET)).isTrue();
        }
        assertThat(lossy.left.done).hasSize(12);
    }

    @Test
    void shouldWaitForAReceiverThatIsNotReady() {
        pair.connect(1024, 0);
        send(1, 100);
        send(2, 100);
        pair.run(20 * MILLISECOND);
        assertThat(left.done).isEmpty();
        right.receive(5, 0, 100);
        right.receive(6, 0, 100);
        pair.run();
        assertThat(left.done).extracting(EnginePair.Done::id).containsExactly(1L, 2L);
        assertThat(right.done).extracting(EnginePair.Done::id).containsExactly(5L, 6L);
    }

    @Test
    void shouldGiveUpOnAReceiverThatIsNeverReady() {
        pair.connect(1024, 0, 14, 7, 3, 4, EnginePair.ALL);
        send(1, 100);
        send(2, 100);
        pair.run();
        assertThat(left.done)
                .extracting(EnginePair.Done::status)
                .containsExactly(
                        CompletionStatus.RECEIVER_NOT_READY_RETRIES_EXCEEDED,
                        CompletionStatus.FLUSHED);
        assertThat(left.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        // The requester waits for 640 us after each of three RNR NAKs.
        assertThat(pair.now).isBetween(3 * 640_000L, 3 * 640_000L + 20_000);
    }

    @Test
    void shouldGiveUpOnASilentPeerAfterTimeoutAndRetries() {
        pair.connect(1024, 0, 10, 3, 7, 4, EnginePair.ALL);
        pair.faults = new EnginePair.Faults(1, 0, 0, 0);
        send(1, 100);
        send(2, 100);
        pair.run();
        assertThat(left.done)
                .extracting(EnginePair.Done::status)
                .containsExactly(CompletionStatus.RETRIES_EXCEEDED, CompletionStatus.FLUSHED);
        // The first of four attempts waits for the timeout, the others for two and four times as
        // long.
        assertThat(pair.now).isEqualTo((1 + 2 + 4 + 4) * (4_096L << 10));
    }

    /**
     * The message is longer than the window of its path. Acknowledgements must therefore be
     * requested before the end of the message, and before the window of the queue pair is full.
     */
    @ParameterizedTest
    @EnumSource(names = {"WRITE", "READ"})
    void shouldNotTimeOutOverAReliableLink(SendOperationKind operation) {
        pair.connect(4096, 0);
        left.fill(0, TARGET, 1);
        left.work(1, operation)
                .buffer(left.start, (int) TARGET, left.region.key())
                .remote(right.start, right.region.key());
        left.post();
        pair.run(MILLISECOND);
        assertThat(left.done).hasSize(1);
        assertThat(left.done.getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(left.holds(0, TARGET, right, 0)).isTrue();
    }

    @Test
    void shouldFlushWorkPostedInTheErrorState() {
        pair.connect(1024, 0);
        left.receive(1, 0, 64);
        left.queuePair.fail();
        left.receive(2, 0, 64);
        send(3, 10);
        pair.run();
        assertThat(left.done).extracting(EnginePair.Done::id).containsExactlyInAnyOrder(1L, 2L, 3L);
        assertThat(left.done)
                .extracting(EnginePair.Done::status)
                .containsOnly(CompletionStatus.FLUSHED);
    }

    @Test
    void shouldAnswerAWriteWithAWrongKeyWithAnAccessError() {
        writeTo(right.start, 3_000, right.region.key() + 1);
        assertRejected(CompletionStatus.REMOTE_ACCESS_ERROR, QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void shouldAnswerAWriteBeyondTheRegionWithAnAccessErrorAndWriteNothing() {
        writeTo(right.start + EnginePair.REGION - 2_999, 3_000, right.region.key());
        assertRejected(CompletionStatus.REMOTE_ACCESS_ERROR, QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void shouldAnswerAWriteBeforeTheRegionWithAnAccessError() {
        writeTo(right.start - 1, 16, right.region.key());
        assertRejected(CompletionStatus.REMOTE_ACCESS_ERROR, QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void shouldAnswerAWriteWhoseEndOverflowsWithAnAccessError() {
        writeTo(-8, 16, right.region.key());
        assertRejected(CompletionStatus.REMOTE_ACCESS_ERROR, QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void shouldAnswerAWriteToAReadOnlyRegionWithAnAccessError() {
        var region =
                right.registry.register(
                        right.domain, right.memory, right.start, Access.REMOTE_READ);
        writeTo(right.start, 16, region.key());
        assertRejected(CompletionStatus.REMOTE_ACCESS_ERROR, QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void shouldAnswerAWriteToARegionOfAnotherDomainWithAnAccessError() {
        var region =
                right.registry.register(
                        new ProtectionDomain(), right.memory, right.start, EnginePair.ALL);
        writeTo(right.start, 16, region.key());
        assertRejected(CompletionStatus.REMOTE_ACCESS_ERROR, QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void shouldAnswerAWriteToADeregisteredRegionWithAnAccessError() {
        right.registry.deregister(right.region);
        writeTo(right.start, 16, right.region.key());
        assertRejected(CompletionStatus.REMOTE_ACCESS_ERROR, QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void shouldIgnoreTheKeyOfAnEmptyWrite() {
        pair.connect(1024, 0);
        writeTo(12345, 0, 6789);
        assertThat(left.done.getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void shouldRejectOperationsThatTheQueuePairDoesNotPermit() {
        pair.connect(1024, 0, 14, 7, 7, 4, Access.LOCAL_WRITE);
        writeTo(right.start, 16, right.region.key());
        assertRejected(CompletionStatus.REMOTE_INVALID_REQUEST, QueuePairEvent.REQUEST_ERROR);
    }

    @Test
    void shouldRejectAnUnalignedAtomic() {
        pair.connect(1024, 0);
        left.work(1, SendOperationKind.FETCH_AND_ADD)
                .buffer(left.start, 8, left.region.key())
                .remote(right.start + 4, right.region.key())
                .atomic(1, 0);
        left.post();
        pair.run();
        assertRejected(CompletionStatus.REMOTE_INVALID_REQUEST, QueuePairEvent.REQUEST_ERROR);
    }

    @Test
    void shouldRejectAReadBeyondTheRegion() {
        pair.connect(1024, 0);
        left.work(1, SendOperationKind.READ)
                .buffer(left.start, 64, left.region.key())
                .remote(right.start + EnginePair.REGION - 63, right.region.key());
        left.post();
        pair.run();
        assertRejected(CompletionStatus.REMOTE_ACCESS_ERROR, QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void shouldRejectAMessageLongerThanTheReceiveAndKeepTheBytesAfterItUnchanged() {
        pair.connect(1024, 0);
        right.receive(9, 0, 2_000);
        left.fill(0, 3_000, 1);
        send(1, 3_000);
        pair.run();
        assertThat(left.done.getFirst().status())
                .isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST);
        assertThat(right.done).hasSize(1);
        assertThat(right.done.getFirst().status()).isEqualTo(CompletionStatus.LOCAL_LENGTH_ERROR);
        assertThat(right.memory.asSlice(2_000, 1_000).mismatch(Arena.ofAuto().allocate(1_000)))
                .isEqualTo(-1);
    }

    @Test
    void shouldReportAReceiveWithAnInvalidKey() {
        pair.connect(1024, 0);
        right.queuePair.receives().claim().begin(9).buffer(right.start, 100, 4711);
        right.queuePair.receives().post();
        send(1, 100);
        pair.run();
        assertThat(left.done.getFirst().status())
                .isEqualTo(CompletionStatus.REMOTE_OPERATION_ERROR);
        assertThat(right.done.getFirst().status())
                .isEqualTo(CompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @Test
    void shouldCompleteEarlierWorkAndFlushLaterWorkAfterALocalError() {
        pair.connect(1024, 0);
        right.receive(1, 0, 4_000);
        send(1, 4_000);
        left.work(2, SendOperationKind.WRITE).buffer(left.start, 8, 4711);
        left.post();
        send(3, 8);
        pair.run();
        assertThat(left.done)
                .extracting(EnginePair.Done::status)
                .containsExactly(
                        CompletionStatus.SUCCESS,
                        CompletionStatus.LOCAL_PROTECTION_ERROR,
                        CompletionStatus.FLUSHED);
    }

    @Test
    void shouldDelayAFencedWriteUntilTheReadIsComplete() {
        pair.connect(1024, 0);
        right.fill(0, 200_000, 5);
        left.work(1, SendOperationKind.READ)
                .buffer(left.start, 200_000, left.region.key())
                .remote(right.start, right.region.key());
        left.post();
        left.work(2, SendOperationKind.WRITE)
                .fence()
                .inline(Arena.ofAuto().allocate(8).fill((byte) -1))
                .remote(right.start + 199_992, right.region.key());
        left.post();
        pair.run();
        assertThat(left.done).extracting(EnginePair.Done::id).containsExactly(1L, 2L);
        assertThat(left.memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 199_992)).isNotEqualTo(-1);
        assertThat(right.memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 199_992)).isEqualTo(-1);
    }

    @Test
    void shouldCompleteOnlySignaledRequests() {
        pair.connect(1024, 0);
        left.queuePair
                .sends()
                .claim()
                .begin(1, SendOperationKind.WRITE)
                .buffer(left.start, 8, left.region.key())
                .remote(right.start, right.region.key());
        left.post();
        writeTo(right.start, 8, right.region.key());
        assertThat(left.done).extracting(EnginePair.Done::id).containsExactly(1_000L);
    }

    private void send(long id, int bytes) {
        left.work(id, SendOperationKind.SEND).buffer(left.start, bytes, left.region.key());
        left.post();
    }

    private void writeTo(long address, int bytes, int key) {
        if (left.queuePair.state() == QueuePairState.RESET) {
            pair.connect(1024, 0);
        }
        left.fill(0, bytes, 3);
        left.work(1_000, SendOperationKind.WRITE)
                .buffer(left.start, bytes, left.region.key())
                .remote(address, key);
        left.post();
        pair.run();
    }

    private void assertRejected(CompletionStatus status, QueuePairEvent event) {
        assertThat(left.done).hasSize(1);
        assertThat(left.done.getFirst().status()).isEqualTo(status);
        assertThat(right.events).contains(event);
        assertThat(left.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(right.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(right.guardsAreIntact()).isTrue();
        assertThat(right.memory.mismatch(Arena.ofAuto().allocate(EnginePair.REGION))).isEqualTo(-1);
    }

    @Test
    void shouldReportEachDrainOfTheSendQueue() {
        for (var drains = 1; drains <= 3; drains++) {
            left.queuePair.drain();
            assertThat(left.events)
                    .filteredOn(event -> event == QueuePairEvent.SEND_QUEUE_DRAINED)
                    .hasSize(drains);
            left.queuePair.resumeSending();
        }
    }

    /**
     * The network duplicates a READ request. The second request arrives after the requester has
     * received the response and the responder has deregistered the memory.
     */
    @Test
    void shouldTolerateARepeatedReadOfDeregisteredMemory() {
        for (var seed = 1; seed <= 50; seed++) {
            var noisy = new EnginePair(Transport.RELIABLE, seed);
            noisy.connect(1024, 0);
            noisy.faults = new EnginePair.Faults(0, 1, 1, 0);
            var temporary =
                    noisy.right.registry.register(
                            noisy.right.domain,
                            noisy.right.memory,
                            noisy.right.start,
                            EnginePair.ALL);
            noisy.left
                    .work(1, SendOperationKind.READ)
                    .buffer(noisy.left.start, 64, noisy.left.region.key())
                    .remote(noisy.right.start, temporary.key());
            noisy.left.post();
            while (noisy.left.done.isEmpty()) {
                noisy.run(noisy.now + 100);
            }
            noisy.right.registry.deregister(temporary);
            noisy.run();
            assertThat(noisy.right.events).isEmpty();
            noisy.left
                    .work(2, SendOperationKind.WRITE)
                    .buffer(noisy.left.start, 64, noisy.left.region.key())
                    .remote(noisy.right.start, noisy.right.region.key());
            noisy.left.post();
            noisy.run();
            assertThat(noisy.left.done)
                    .extracting(EnginePair.Done::status)
                    .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
        }
    }
}
