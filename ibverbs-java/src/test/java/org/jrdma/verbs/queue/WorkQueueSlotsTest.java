package org.jrdma.verbs.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricTimeoutException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class WorkQueueSlotsTest {

    private static final Deadline EXPIRED = Deadline.after(Duration.ZERO);

    /**
     * Advances the next position of an empty queue, for tests of the wrap-around of the 32-bit
     * position.
     */
    private static void advanceTo(WorkQueueSlots queue, long position) {
        while (queue.nextPosition() < position) {
            queue.take((int) Math.min(Integer.MAX_VALUE, position - queue.nextPosition()));
            queue.release(queue.nextPosition() - 1);
        }
    }

    @Nested
    class Polled {

        @ParameterizedTest
        @ValueSource(ints = {1, 3, 4, 5, 7, 8, 9})
        void shouldCountSlotsAndReturnTheIdsOfRequests(int capacity) {
            var queue = new PolledWorkQueueSlots(capacity);
            for (var round = 0; round < 50; round++) {
                for (var slot = 0; slot < capacity; slot++) {
                    assertThat(queue.freeSlots()).isEqualTo(capacity - slot);
                    assertThat(queue.hasFreeSlots(capacity - slot)).isTrue();
                    assertThat(queue.hasFreeSlots(capacity - slot + 1)).isFalse();
                    queue.number(queue.nextPosition(), id(queue.nextPosition()));
                    queue.take(1);
                }
                assertThat(queue.freeSlots()).isZero();
                assertThat(queue.hasFreeSlots(1)).isFalse();
                assertThat(queue.outstanding()).isEqualTo(capacity);
                for (var slot = 0; slot < capacity; slot++) {
                    var position = (long) round * capacity + slot;
                    assertThat(queue.complete((int) queue.requestNumber(position)))
                            .isEqualTo(id(position));
                    assertThat(queue.freeSlots()).isEqualTo(slot + 1);
                }
            }
        }

        @Test
        void shouldFreeUnsignaledSlotsWithTheNextSignaledCompletion() {
            var queue = new PolledWorkQueueSlots(8);
            for (var i = 0; i < 8; i++) {
                queue.number(i, id(i));
            }
            queue.take(8);

            assertThat(queue.complete(4)).isEqualTo(id(4));

            assertThat(queue.freeSlots()).isEqualTo(5);
            assertThat(queue.outstanding()).isEqualTo(3);
            assertThat(queue.complete(7)).isEqualTo(id(7));
            assertThat(queue.freeSlots()).isEqualTo(8);
        }

        @Test
        void shouldFreeTheSlotsOfRejectedRequests() {
            var queue = new PolledWorkQueueSlots(4);

            queue.take(3);
            queue.undoTake(2);

            assertThat(queue.freeSlots()).isEqualTo(3);
            assertThat(queue.nextPosition()).isEqualTo(1);
        }

        @ParameterizedTest
        @ValueSource(longs = {0x7fff_fff0L, 0xffff_fff0L, 0x1_7fff_fff0L, 0x1_ffff_fff0L})
        void shouldHandleTheWrapAroundOfPositions(long start) {
            var queue = new PolledWorkQueueSlots(7);
            advanceTo(queue, start);

            for (var position = start; position < start + 40; position += 5) {
                for (var i = 0; i < 5; i++) {
                    queue.number(queue.nextPosition(), id(queue.nextPosition()));
                    queue.take(1);
                }
                assertThat(queue.complete((int) position)).isEqualTo(id(position));
                assertThat(queue.freeSlots()).isEqualTo(3);
                var last = position + 4;
                assertThat(queue.complete((int) last)).isEqualTo(id(last));
                assertThat(queue.freeSlots()).isEqualTo(7);
            }
        }

        @Test
        void shouldHaveASpareSlotForTheDrainMarker() {
            var queue = new PolledWorkQueueSlots(4);
            for (var i = 0; i < 4; i++) {
                queue.number(i, id(i));
            }
            queue.take(4);

            var marker = queue.takeMarkerSlot();

            assertThat(marker).isEqualTo(4);
            assertThat(queue.isMarker((int) queue.requestNumber(marker))).isTrue();
            assertThat(queue.isMarker(3)).isFalse();
            for (var i = 0; i < 4; i++) {
                assertThat(queue.complete(i)).isEqualTo(id(i));
            }
            queue.clearMarker();
            assertThat(queue.isMarker(4)).isFalse();
        }

        @Test
        void shouldFreeTheSpareSlotOnceIfCompletionAndCloseCoincide() {
            var reservations =
                    new CompletionQueueReservations<PolledWorkQueueSlots>(
                            4, CompletedRequestQueueLookup.ofShared());
            var first = new PolledWorkQueueSlots(2);
            var second = new PolledWorkQueueSlots(2);
            reservations.attach(first, false);
            reservations.attach(second, false);
            assertThat(reservations.reserveMarkerSlot(first)).isTrue();
            assertThat(reservations.reserveMarkerSlot(second)).isFalse();

            reservations.releaseMarkerSlot(first);
            assertThat(reservations.reserveMarkerSlot(second)).isTrue();
            reservations.detach(first);

            assertThat(reservations.reserveMarkerSlot(first))
                    .as("the second queue has the slot")
                    .isFalse();
        }

        @Test
        void shouldHaveNoMarkerBeforeOneIsPosted() {
            var queue = new PolledWorkQueueSlots(4);

            assertThat(queue.isMarker(-1)).isFalse();
            assertThat(queue.isMarker(0)).isFalse();
        }

        private static long id(long position) {
            return ~position * 31;
        }
    }

    @Nested
    @SuppressWarnings("FutureReturnValueIgnored") // The transfers only occupy slots.
    class Async {

        private final AsyncWorkQueueSlots queue = new AsyncWorkQueueSlots(3);

        private PendingTransfer post() throws Exception {
            queue.awaitSlot(EXPIRED, "send queue");
            var transfer = new PendingTransfer("queue pair 17 of rxe0", "WRITE");
            queue.remember(queue.nextPosition(), transfer);
            queue.take(1);
            return transfer;
        }

        @ParameterizedTest
        @ValueSource(longs = {0, 0x7fff_ffffL, 0xffff_fffeL})
        void shouldFindTheTransferOfEachCompletion(long start) throws Exception {
            advanceTo(queue, start);

            for (var position = start; position < start + 20; position += 3) {
                var transfers = new PendingTransfer[] {post(), post(), post()};
                for (var i = 0; i < 3; i++) {
                    assertThat(queue.complete((int) (position + i))).isSameAs(transfers[i]);
                    queue.returnSlot();
                }
            }
            assertThat(queue.freeSlots()).isEqualTo(3);
        }

        @Test
        void shouldTimeOutIfNoSlotBecomesFree() throws Exception {
            post();
            post();
            post();

            assertThatExceptionOfType(FabricTimeoutException.class)
                    .isThrownBy(() -> queue.awaitSlot(EXPIRED, "send queue of queue pair 17"))
                    .withMessage("No free slot in the send queue of queue pair 17 within 0s");
        }

        @Test
        void shouldFindNoTransferForAnUnknownCompletion() throws Exception {
            post();
            assertThat(queue.complete(0)).isNotNull();

            assertThat(queue.complete(0)).isNull();
        }

        @Test
        void shouldStopWaitingForASlotWhenInterrupted() throws Exception {
            Thread.currentThread().interrupt();

            assertThatExceptionOfType(InterruptedIOException.class)
                    .isThrownBy(() -> queue.awaitSlot(Deadline.NEVER, "send queue"));

            assertThat(Thread.interrupted()).isTrue();
        }

        @Test
        void shouldBeDrainedIfAllSlotsAreFree() throws Exception {
            post();

            assertThatExceptionOfType(FabricTimeoutException.class)
                    .isThrownBy(() -> queue.awaitDrained(EXPIRED, "send queue"))
                    .withMessage("send queue did not drain within 0s");
            assertThat(queue.complete(0)).isNotNull();
            queue.returnSlot();
            queue.awaitDrained(EXPIRED, "send queue");

            post();
            post();
            post(); // The slots are free again after draining.
        }

        @Test
        void shouldFreeAnUnusedSlot() throws Exception {
            for (var i = 0; i < 10; i++) {
                queue.awaitSlot(EXPIRED, "send queue");
                queue.returnSlot();
            }
        }

        @Test
        void shouldFailTransfersAndWaitsWhenAbandoned() throws Exception {
            var transfer = post();
            post();
            post();

            queue.abandon();

            assertThat(transfer.isDone()).isTrue();
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(transfer::join)
                    .havingCause()
                    .isInstanceOf(IllegalStateException.class)
                    .withMessage("queue pair 17 of rxe0 was closed before WRITE completed");
            queue.awaitSlot(EXPIRED, "send queue");
        }
    }
}
