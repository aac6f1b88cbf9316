package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.verbs.CompletionQueueOptions.capacity;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests polled completion queues: creation, resizing, waiting for completions, and moderation of
 * events.
 */
class CompletionQueueTest {

    private static final Duration SHORT = Duration.ofMillis(30);
    private static final Duration LONG = Duration.ofSeconds(20);

    private final Fabric fabric = Fabric.underTest();
    private Device device;

    @BeforeEach
    void open() throws VerbsException {
        device = fabric.open();
    }

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void shouldReportItsCapacityAndFreeSlots() throws VerbsException {
        try (var completions = device.newCompletionQueue(100);
                var domain = device.newProtectionDomain()) {
            assertThat(completions.capacity()).isEqualTo(100);
            assertThat(completions.remainingCapacity()).isEqualTo(100);
            try (var queuePair =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(completions).sends(30).receives(20))) {
                assertThat(queuePair.isOpen()).isTrue();
                assertThat(completions.remainingCapacity()).isEqualTo(50);
            }
            assertThat(completions.remainingCapacity()).isEqualTo(100);
        }
    }

    @Test
    void shouldRejectCapacitiesAndVectorsOutOfRange() throws VerbsException {
        var most = device.attributes().maxCompletions();

        assertThatThrownBy(() -> device.newCompletionQueue(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> device.newCompletionQueue(most + 1))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_create_cq")
                .hasMessageContaining(String.format(Locale.ROOT, "%,d completions", most + 1))
                .hasMessageContaining(device.name());
        assertThatThrownBy(() -> capacity(1).vector(-1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldAcceptTheLastCompletionVectorAndRejectTheNext() throws VerbsException {
        fabric.needs(Feature.COMPLETION_EVENTS);
        var vectors = device.completionVectors();
        try (var completions =
                device.newCompletionQueue(capacity(4).waitable().vector(vectors - 1))) {
            assertThat(completions.isOpen()).isTrue();
        }
        assertThatThrownBy(() -> device.newCompletionQueue(capacity(4).waitable().vector(vectors)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("vector " + vectors);
    }

    @Test
    void shouldResize() throws VerbsException {
        fabric.needs(Feature.RESIZING_COMPLETION_QUEUES);
        try (var completions = device.newCompletionQueue(16)) {
            completions.resize(100);
            assertThat(completions.capacity()).isEqualTo(100);
            assertThat(completions.remainingCapacity()).isEqualTo(100);
            completions.resize(4);
            assertThat(completions.capacity()).isEqualTo(4);
        }
    }

    @Test
    void shouldReportThatResizingIsNotSupported() throws VerbsException {
        try (var completions = device.newCompletionQueue(16)) {
            if (fabric.profile().has(Feature.RESIZING_COMPLETION_QUEUES)) {
                var most = device.attributes().maxCompletions();
                assertThatThrownBy(() -> completions.resize(most + 1))
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining("ibv_resize_cq");
            } else {
                assertThatThrownBy(() -> completions.resize(32))
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining("ibv_resize_cq");
            }
            assertThat(completions.capacity()).isEqualTo(16);
        }
    }

    @Test
    void shouldRejectACapacityBelowTheRequestsOfItsQueuePairs() throws VerbsException {
        try (var completions = device.newCompletionQueue(64);
                var domain = device.newProtectionDomain();
                var queuePair =
                        domain.newQueuePair(
                                QueuePairOptions.reliable(completions).sends(16).receives(16))) {
            assertThat(queuePair.isOpen()).isTrue();
            assertThatThrownBy(() -> completions.resize(31))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("32 requests");
            assertThatThrownBy(() -> completions.resize(0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(completions.capacity()).isEqualTo(64);
        }
    }

    @Test
    void shouldKeepPendingCompletionsWhenItIsResized() throws VerbsException {
        fabric.needs(Feature.RESIZING_COMPLETION_QUEUES);
        try (var pair = Pair.connected()) {
            var left = pair.left();
            var write =
                    left.queuePair()
                            .prepareWrite(
                                    left.region().slice(0, 8), pair.right().region().remote());
            for (var number = 0; number < 20; number++) {
                left.post(write.id(number));
            }
            left.completions().resize(200);

            var taken = left.take(20);

            for (var number = 0; number < 20; number++) {
                assertThat(taken.get(number).id()).isEqualTo(number);
            }
        }
    }

    @Test
    void shouldRejectAWaitWithoutEvents() throws VerbsException {
        try (var completions = device.newCompletionQueue(4);
                var cursor = completions.newCursor(4)) {
            assertThatThrownBy(() -> cursor.await(SHORT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("waitable()");
            assertThatThrownBy(cursor::wake)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("waitable()");
        }
    }

    @Test
    void shouldRejectABatchSizeOfZero() throws VerbsException {
        try (var completions = device.newCompletionQueue(4)) {
            assertThatThrownBy(() -> completions.newCursor(0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldRejectAccessorsBeforeNextReturnsTrue() throws VerbsException {
        try (var completions = device.newCompletionQueue(4);
                var cursor = completions.newCursor(4)) {
            assertThat(cursor.poll()).isZero();
            assertThat(cursor.next()).isFalse();
            assertThatThrownBy(cursor::status).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(cursor::id).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldStopWaitingWhenTheTimeoutExpires() throws Exception {
        fabric.needs(Feature.COMPLETION_EVENTS);
        try (var completions = device.newCompletionQueue(capacity(4).waitable());
                var cursor = completions.newCursor(4)) {
            var start = System.nanoTime();
            assertThat(cursor.await(SHORT)).isZero();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(SHORT);
            assertThat(cursor.await(Duration.ZERO)).isZero();
        }
    }

    @Test
    void shouldEndOnlyTheWaitOfTheCursorThatIsWokenUp() throws Exception {
        fabric.needs(Feature.COMPLETION_EVENTS);
        try (var completions = device.newCompletionQueue(capacity(4).waitable());
                var cursor = completions.newCursor(4)) {
            var other = new CompletableFuture<CompletionCursor>();
            var waiting =
                    BackgroundCalls.call(
                            Thread.ofPlatform(),
                            () -> {
                                try (var own = completions.newCursor(4)) {
                                    other.complete(own);
                                    return own.await(LONG);
                                }
                            });
            for (var round = 0; round < 20; round++) {
                cursor.wake();
                cursor.wake();
                assertThat(cursor.await(LONG)).isZero();
            }
            assertThat(cursor.await(SHORT)).isZero();
            assertThat(waiting).isNotDone();

            other.get(10, TimeUnit.SECONDS).wake();

            assertThat(waiting.get(10, TimeUnit.SECONDS)).isZero();
        }
    }

    @Test
    void shouldStopWaitingWhenInterrupted() throws Exception {
        fabric.needs(Feature.COMPLETION_EVENTS);
        try (var completions = device.newCompletionQueue(capacity(4).waitable())) {
            var failure = new CompletableFuture<Throwable>();
            var entered = new CountDownLatch(1);
            var waiter =
                    Thread.ofPlatform()
                            .start(() -> {
                                try (var cursor = completions.newCursor(4)) {
                                    entered.countDown();
                                    cursor.await(LONG);
                                    failure.complete(new AssertionError("not interrupted"));
                                } catch (Exception e) {
                                    failure.complete(
                                            Thread.currentThread().isInterrupted()
                                                    ? e
                                                    : new AssertionError(
                                                            "interrupt status lost", e));
                                }
                            });
            entered.await();
            Thread.sleep(20);
            waiter.interrupt();

            assertThat(failure.get(10, TimeUnit.SECONDS))
                    .isInstanceOf(InterruptedIOException.class);
            waiter.join();
        }
    }

    @Test
    void shouldStopWaitingWhenClosed() throws Exception {
        fabric.needs(Feature.COMPLETION_EVENTS);
        for (var round = 0; round < 20; round++) {
            var completions = device.newCompletionQueue(capacity(4).waitable());
            var entered = new CountDownLatch(1);
            var waiting =
                    BackgroundCalls.call(
                            Thread.ofPlatform(),
                            () -> {
                                try (var cursor = completions.newCursor(4)) {
                                    entered.countDown();
                                    return cursor.await(LONG);
                                }
                            });
            entered.await();
            if (round % 2 == 0) {
                Thread.sleep(5);
            }
            completions.close();

            assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("completion queue")
                    .hasMessageContaining("closed");
        }
    }

    /**
     * Each side waits for a message from its peer before it sends its next message, so one lost
     * wake-up would stop both sides.
     */
    @Test
    void shouldLoseNoWakeUpInManyRoundsAndAcknowledgeAllEvents() throws Exception {
        var rounds = 500;
        try (var pair = Pair.connected()) {
            var right = pair.right();
            var receiving = new CountDownLatch(1);
            var echo =
                    BackgroundCalls.call(
                            Thread.ofPlatform(),
                            () -> {
                                try (var cursor = right.completions().newCursor(4)) {
                                    return pingPong(right, cursor, rounds, receiving, false);
                                }
                            });
            receiving.await();

            assertThat(
                            pingPong(
                                    pair.left(),
                                    pair.left().cursor(),
                                    rounds,
                                    new CountDownLatch(1),
                                    true))
                    .isEqualTo(rounds);
            assertThat(echo.get(10, TimeUnit.SECONDS)).isEqualTo(rounds);

            // The close would block if an event were not acknowledged, because ibv_destroy_cq waits
            // for that.
            CompletableFuture.runAsync(pair::close).get(10, TimeUnit.SECONDS);
        }
    }

    private static int pingPong(
            Side side,
            CompletionCursor cursor,
            int rounds,
            CountDownLatch receiving,
            boolean begins)
            throws Exception {
        var receive = side.queuePair().prepareReceive(side.region().slice(0, 64));
        var send = side.queuePair().prepareSend(side.region().slice(64, 64)).signaled(false);
        side.post(receive);
        receiving.countDown();
        var received = 0;
        if (begins) {
            side.post(send);
        }
        while (received < rounds) {
            assertThat(cursor.await(LONG)).as("after %d rounds", received).isPositive();
            while (cursor.next()) {
                assertThat(cursor.isSuccess()).as("%s", cursor.status()).isTrue();
                if (cursor.kind() != CompletionKind.RECEIVE) {
                    continue;
                }
                received++;
                if (received < rounds) {
                    side.post(receive);
                }
                if (!begins || received < rounds) {
                    side.post(send.signaled(received % 8 == 0));
                }
            }
        }
        return received;
    }

    @Test
    void shouldWakeUpOnlyForSolicitedMessagesIfConfigured() throws Exception {
        fabric.needs(Feature.MOVING_DATA);
        fabric.needs(Feature.COMPLETION_EVENTS);
        fabric.needs(Feature.CONNECTING_BY_MODIFY);
        try (var pair = Pair.unconnected();
                var solicited =
                        pair.device().newCompletionQueue(capacity(64).waitableForSolicited());
                var cursor = solicited.newCursor(8)) {
            var left = pair.left();
            var right = pair.right();
            var receiver =
                    right.domain()
                            .newQueuePair(
                                    QueuePairOptions.reliable(solicited).sends(8).receives(8));
            left.queuePair().connect(receiver.endpoint());
            receiver.connect(left.queuePair().endpoint());
            var receive = receiver.prepareReceive(right.region().slice(0, 8));
            for (var count = 0; count < 4; count++) {
                assertThat(receive.tryPost()).isTrue();
            }
            var entered = new CountDownLatch(1);
            var waiting =
                    BackgroundCalls.call(
                            Thread.ofPlatform(),
                            () -> {
                                try (var own = solicited.newCursor(8)) {
                                    entered.countDown();
                                    return own.await(LONG);
                                }
                            });
            entered.await();
            Thread.sleep(100);

            left.complete(left.queuePair().prepareSend(left.region().slice(0, 8)));
            Thread.sleep(100);
            assertThat(waiting).as("after a message that was not solicited").isNotDone();
            left.complete(left.queuePair().prepareSend(left.region().slice(0, 8)).solicited(true));

            assertThat(waiting.get(10, TimeUnit.SECONDS)).isEqualTo(2);
            assertThat(cursor.poll()).isZero();
        }
    }

    @Test
    void shouldWakeUpOnceForTheModeratedNumberOfCompletions() throws Exception {
        fabric.needs(Feature.MODERATION);
        try (var pair = Pair.connected()) {
            var right = pair.right();
            right.completions().moderate(4, Duration.ZERO);
            var send = pair.left().queuePair().prepareSend(pair.left().region().slice(0, 8));
            for (var count = 0; count < 6; count++) {
                right.post(right.queuePair().prepareReceive(right.region().slice(0, 8)));
            }
            var waiting = awaitOnAnotherThread(right);
            for (var count = 0; count < 3; count++) {
                pair.left().complete(send);
            }
            Thread.sleep(100);
            assertThat(waiting).as("after three completions").isNotDone();

            pair.left().complete(send);

            assertThat(waiting.get(10, TimeUnit.SECONDS)).isEqualTo(4);
            right.completions().moderate(0, Duration.ZERO);
            waiting = awaitOnAnotherThread(right);
            pair.left().complete(send);
            assertThat(waiting.get(10, TimeUnit.SECONDS)).isEqualTo(1);
        }
    }

    @Test
    void shouldDelayAnEventForTheModerationPeriod() throws Exception {
        fabric.needs(Feature.MODERATION);
        try (var pair = Pair.connected()) {
            var right = pair.right();
            right.completions().moderate(1000, Duration.ofMillis(60));
            right.post(right.queuePair().prepareReceive(right.region().slice(0, 8)));
            right.post(right.queuePair().prepareReceive(right.region().slice(0, 8)));
            var waiting = awaitOnAnotherThread(right);
            var start = System.nanoTime();
            var send = pair.left().queuePair().prepareSend(pair.left().region().slice(0, 8));
            pair.left().complete(send);
            pair.left().complete(send);

            assertThat(waiting.get(10, TimeUnit.SECONDS)).isEqualTo(2);

            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isGreaterThanOrEqualTo(Duration.ofMillis(50));
        }
    }

    /**
     * Starts a thread that waits for completions. The future completes with the number of
     * completions after the first wake-up.
     */
    private static CompletableFuture<Integer> awaitOnAnotherThread(Side side)
            throws InterruptedException {
        var entered = new CountDownLatch(1);
        var waiting =
                BackgroundCalls.call(
                        Thread.ofPlatform(),
                        () -> {
                            try (var cursor = side.completions().newCursor(16)) {
                                entered.countDown();
                                var found = cursor.await(LONG);
                                while (cursor.next()) {
                                    assertThat(cursor.isSuccess()).isTrue();
                                }
                                return found;
                            }
                        });
        entered.await();
        Thread.sleep(100);
        return waiting;
    }

    @Test
    void shouldRejectModerationValuesOutOfRange() throws VerbsException {
        try (var completions = device.newCompletionQueue(4)) {
            assertThatThrownBy(() -> completions.moderate(-1, Duration.ZERO))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> completions.moderate(0x1_0000, Duration.ZERO))
                    .isInstanceOf(IllegalArgumentException.class);
            for (var tooLong : new Duration[] {Duration.ofMillis(66), Duration.ofDays(1_000_000)}) {
                assertThatThrownBy(() -> completions.moderate(1, tooLong))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    @Test
    void shouldReportThatEventModerationIsNotSupported() throws VerbsException {
        fabric.needsLackOf(Feature.MODERATION);
        try (var completions = device.newCompletionQueue(4)) {
            assertThatThrownBy(() -> completions.moderate(4, Duration.ofMillis(1)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_modify_cq")
                    .hasMessageContaining("4 completions or 1,000 microseconds")
                    .hasMessageEndingWith("The device does not support event moderation.");
        }
    }
}
