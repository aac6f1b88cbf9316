package org.jrdma.verbs.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the slots of shared receives and the capacity that they reserve in completion queues. */
@Timeout(30)
class SharedReceiveSlotsTest {

    private static final CompletedRequestQueueLookup<PolledWorkQueueSlots> TABLE =
            CompletedRequestQueueLookup.ofShared();

    private static PolledSharedReceiveSlots shared(int capacity) {
        var receives = new PolledSharedReceiveSlots(capacity);
        TABLE.add(receives);
        return receives;
    }

    private static long post(PolledSharedReceiveSlots receives, long id) {
        var number = receives.number(receives.nextPosition(), id);
        receives.take(1);
        return number;
    }

    @Nested
    class Slots {

        @ParameterizedTest
        @ValueSource(ints = {1, 3, 4, 5, 8, 9})
        void shouldReturnTheIdsOfReceivesInAnyCompletionOrder(int capacity) {
            var receives = shared(capacity);
            var numbers = new ArrayDeque<long[]>();
            for (var id = 0L; id < 200; id++) {
                if (receives.freeSlots() == 0) {
                    var entry = id % 2 == 0 ? numbers.removeFirst() : numbers.removeLast();
                    assertThat(receives.complete((int) entry[0])).isEqualTo(entry[1]);
                }
                assertThat(receives.freeSlots()).isPositive();
                numbers.addLast(new long[] {post(receives, id), id});
                assertThat(receives.outstanding()).isEqualTo(numbers.size());
            }
            while (!numbers.isEmpty()) {
                var entry = numbers.removeLast();
                assertThat(receives.complete((int) entry[0])).isEqualTo(entry[1]);
            }
            assertThat(receives.freeSlots()).isEqualTo(capacity);
        }

        @Test
        void shouldAssignUniqueNumbersToReceivesInFlight() {
            var receives = shared(6);
            var numbers = new HashSet<Long>();
            for (var id = 0; id < 6; id++) {
                numbers.add(post(receives, id));
            }

            assertThat(numbers).hasSize(6);
            assertThat(numbers).allMatch(number -> TABLE.find(number) == receives);
        }

        @Test
        void shouldReuseTheSlotsOfRejectedReceives() {
            var receives = shared(4);
            post(receives, 1);
            for (var offset = 0; offset < 3; offset++) {
                receives.number(receives.nextPosition() + offset, 10 + offset);
            }
            receives.take(3);
            receives.undoTake(2); // The first of the three requests was posted.

            assertThat(receives.freeSlots()).isEqualTo(2);
            var numbers = new HashSet<Integer>();
            for (var id = 20; id < 22; id++) {
                numbers.add((int) post(receives, id));
            }
            assertThat(receives.freeSlots()).isZero();
            assertThat(numbers.stream().mapToLong(receives::complete))
                    .containsExactlyInAnyOrder(20L, 21L);
        }

        @Test
        void shouldKeepReceivesInFlightWhenResized() {
            var receives = shared(3);
            var first = post(receives, 1);
            var second = post(receives, 2);
            receives.number(receives.nextPosition(), 99); // The request was written but not posted.

            receives.resize(10);
            assertThat(receives.freeSlots()).isEqualTo(8);
            var numbers = new ArrayDeque<Long>();
            for (var id = 3; id <= 10; id++) {
                numbers.add(post(receives, id));
            }
            assertThat(receives.freeSlots()).isZero();
            assertThat(receives.complete((int) second)).isEqualTo(2);
            assertThat(receives.complete((int) first)).isEqualTo(1);
            for (var id = 3; id <= 8; id++) {
                assertThat(receives.complete((int) (long) numbers.remove())).isEqualTo(id);
            }

            receives.resize(2);
            assertThat(receives.freeSlots()).isZero();
            for (var id = 9; id <= 10; id++) {
                assertThat(receives.complete((int) (long) numbers.remove())).isEqualTo(id);
            }
            assertThat(receives.freeSlots()).isEqualTo(2);
        }

        @Test
        void shouldCompleteReceivesOnSeveralThreads() throws Exception {
            var rounds = 200_000;
            var completers = 3;
            var receives = shared(64);
            var inFlight = new ArrayBlockingQueue<Long>(64);
            var completionCounts = new AtomicLongArray(rounds);
            var threads = new Thread[completers];
            for (var i = 0; i < completers; i++) {
                threads[i] =
                        Thread.ofPlatform()
                                .start(() -> {
                                    try {
                                        for (var number = inFlight.take();
                                                number >= 0;
                                                number = inFlight.take()) {
                                            completionCounts.incrementAndGet(
                                                    (int) receives.complete((int) (long) number));
                                        }
                                    } catch (InterruptedException e) {
                                        throw new AssertionError(e);
                                    }
                                });
            }

            for (var id = 0; id < rounds; id++) {
                while (receives.freeSlots() == 0) {
                    Thread.onSpinWait();
                }
                inFlight.put(post(receives, id) & 0x7fff_ffff_ffff_ffffL);
            }
            for (var i = 0; i < completers; i++) {
                inFlight.put(-1L);
            }
            for (var thread : threads) {
                thread.join();
            }

            for (var id = 0; id < rounds; id++) {
                assertThat(completionCounts.get(id)).as("completions of %d", id).isOne();
            }
            assertThat(receives.freeSlots()).isEqualTo(64);
        }
    }

    @Nested
    class Table {

        private final CompletedRequestQueueLookup<PolledWorkQueueSlots> firstTable =
                new CompletedRequestQueueLookup<>(TABLE);
        private final CompletedRequestQueueLookup<PolledWorkQueueSlots> secondTable =
                new CompletedRequestQueueLookup<>(TABLE);

        @Test
        void shouldFindASharedQueueFromEveryCompletionQueue() {
            var receives = shared(4);
            var number = post(receives, 1);

            assertThat(firstTable.find(number)).isSameAs(receives);
            assertThat(secondTable.find(number)).isSameAs(receives);
        }

        @Test
        void shouldDistinguishSharedQueuesFromOtherQueues() {
            var first = shared(4);
            var queue = new PolledWorkQueueSlots(4);
            firstTable.add(queue);

            for (var position = 0L; position < 3; position++) {
                assertThat(firstTable.find(queue.requestNumber(position))).isSameAs(queue);
                assertThat(firstTable.find(first.requestNumber(position))).isSameAs(first);
            }
        }

        @Test
        void shouldFindNoQueueAfterTheSharedQueueIsClosed() {
            var receives = shared(4);
            var number = post(receives, 1);

            TABLE.remove(receives);

            assertThat(firstTable.find(number)).isNull();
        }
    }

    @Nested
    class Reservations {

        private final PolledSharedReceiveSlots receives = shared(8);
        private final SharedReceiveCompletionReservations<PolledWorkQueueSlots> sharedReservations =
                receives.sharedReservations();
        private final CompletionQueueReservations<PolledWorkQueueSlots> source =
                new CompletionQueueReservations<>(20, TABLE);

        @Test
        void shouldReserveCompletionsOnceForAllQueuePairs() {
            assertThat(sharedReservations.attach(source, false)).isTrue();
            assertThat(sharedReservations.attach(source, false)).isTrue();
            assertThat(source.remainingCapacity()).isEqualTo(12);
            assertThat(source.shared()).containsExactly(receives);

            sharedReservations.detach(source);
            assertThat(source.remainingCapacity()).isEqualTo(12);
            sharedReservations.detach(source);
            assertThat(source.remainingCapacity()).isEqualTo(20);
            assertThat(source.shared()).isEmpty();
        }

        @Test
        void shouldRejectAnOverrunUnlessItIsAllowed() {
            assertThat(source.reserve(13, false)).isTrue();

            assertThat(sharedReservations.attach(source, false)).isFalse();
            assertThat(source.remainingCapacity()).isEqualTo(7);
            assertThat(sharedReservations.attach(source, true)).isTrue();
            assertThat(source.remainingCapacity()).isEqualTo(-1);
        }

        @Test
        void shouldResizeTheReservationsOfAllQueuesOrNone() throws Exception {
            var small = new CompletionQueueReservations<PolledWorkQueueSlots>(10, TABLE);
            sharedReservations.attach(source, false);
            sharedReservations.attach(small, false);

            sharedReservations.resize(10, () -> receives.resize(10));
            assertThat(small.remainingCapacity()).isZero();
            assertThat(source.remainingCapacity()).isEqualTo(10);

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> sharedReservations.resize(11, () -> receives.resize(11)))
                    .withMessage(
                            "11 receives could overrun a completion queue that they complete into, which has reserved capacity for 10 of them and has a remaining capacity of 0. Increase its capacity first.");
            assertThat(small.remainingCapacity()).isZero();
            assertThat(source.remainingCapacity()).isEqualTo(10);
            assertThat(receives.capacity()).isEqualTo(10);

            sharedReservations.resize(3, () -> receives.resize(3));
            assertThat(small.remainingCapacity()).isEqualTo(7);
            assertThat(source.remainingCapacity()).isEqualTo(17);
        }

        @Test
        void shouldKeepTheReservationIfTheDeviceFails() {
            sharedReservations.attach(source, false);

            for (var capacity : new int[] {4, 12}) {
                assertThatExceptionOfType(VerbsException.class)
                        .isThrownBy(() ->
                                sharedReservations.resize(
                                        capacity,
                                        () -> {
                                            throw new VerbsException("ibv_modify_srq", "rejected");
                                        }));
                assertThat(source.remainingCapacity()).isEqualTo(12);
            }
        }

        @Test
        void shouldIdentifyQueuePairsThatReceiveDatagrams() {
            sharedReservations.addQueuePair(17, QueuePairType.UNRELIABLE_DATAGRAM);
            sharedReservations.addQueuePair(18, QueuePairType.RELIABLE_CONNECTION);

            assertThat(receives.carriesDatagrams(17)).isTrue();
            assertThat(receives.carriesDatagrams(18)).isFalse();
            sharedReservations.removeQueuePair(17);
            assertThat(receives.carriesDatagrams(17)).isFalse();
        }
    }
}
