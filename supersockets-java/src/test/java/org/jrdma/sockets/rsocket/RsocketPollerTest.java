package org.jrdma.sockets.rsocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.ThreadParker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Polls descriptors of the kernel by poll(2), whose arguments are those of rpoll. */
@Timeout(60)
class RsocketPollerTest {

    private static final String DAEMON = "jrdma-rsocket-poll";
    private static final int ROUNDS = 2_000;

    private final BlockingQueue<Thread> polling = new LinkedBlockingQueue<>();
    private final List<Source> sources = new ArrayList<>();
    private final RsocketPoller poller =
            RsocketPoller.start(descriptors -> {
                polling.add(Thread.currentThread());
                return SocketCalls.poll(descriptors, -1);
            });

    RsocketPollerTest() throws Exception {}

    /** A descriptor that is watched as an rsocket, and the thread that waits for it. */
    private final class Source implements RsocketPoller.Watched {

        private final RaisableDescriptor descriptor = RaisableDescriptor.open();
        private final AtomicBoolean hasEvent = new AtomicBoolean();
        private volatile ThreadParker parker;
        private volatile Thread reporter;

        Source() throws Exception {
            sources.add(this);
        }

        @Override
        public int number() {
            return descriptor.number();
        }

        @Override
        public void eventOccurred() {
            reporter = Thread.currentThread();
            descriptor.lower();
            hasEvent.set(true);
            var waiting = parker;
            if (waiting != null) {
                waiting.wakeUp();
            }
        }

        /** Waits for an event. Returns false if the deadline has passed. */
        boolean await(Deadline deadline) {
            parker = poller.parker(this, SocketCalls.POLLIN);
            while (!hasEvent.getAndSet(false)) {
                if (deadline.hasPassed()) {
                    return false;
                }
                parker.park(deadline);
            }
            return true;
        }

        CompletableFuture<Boolean> awaitOn(Thread.Builder thread, Deadline deadline) {
            var result = new CompletableFuture<Boolean>();
            thread.start(() -> result.complete(await(deadline)));
            return result;
        }
    }

    @AfterEach
    void close() {
        sources.forEach(poller::forget);
        sources.forEach(source -> source.descriptor.close());
    }

    private Thread nextPolling() throws InterruptedException {
        return polling.poll(30, TimeUnit.SECONDS);
    }

    @Test
    void shouldPollOnThePlatformThreadThatWaits() throws Exception {
        var source = new Source();
        var waiting = source.awaitOn(Thread.ofPlatform().name("waiting"), Deadline.NEVER);
        assertThat(nextPolling().getName()).isEqualTo("waiting");

        source.descriptor.raise();

        assertThat(waiting.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(source.reporter.getName()).isEqualTo("waiting");
        assertThat(polling).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldPollOnTheDaemonThreadForAVirtualThreadOrADeadline(boolean virtual) throws Exception {
        var source = new Source();
        var waiting =
                virtual
                        ? source.awaitOn(Thread.ofVirtual(), Deadline.NEVER)
                        : source.awaitOn(
                                Thread.ofPlatform(), Deadline.after(Duration.ofMinutes(1)));
        assertThat(nextPolling().getName()).isEqualTo(DAEMON);

        source.descriptor.raise();

        assertThat(waiting.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(source.reporter.getName()).isEqualTo(DAEMON);
    }

    @Test
    void shouldReturnAfterTheDeadline() throws Exception {
        var source = new Source();

        assertThat(source.await(Deadline.after(Duration.ofMillis(20)))).isFalse();
    }

    @Test
    void shouldPollForOthersWhileAThreadWaits() throws Exception {
        var first = new Source();
        var second = new Source();
        var firstWaiting = first.awaitOn(Thread.ofPlatform().name("first"), Deadline.NEVER);
        assertThat(nextPolling().getName()).isEqualTo("first");
        var secondWaiting = second.awaitOn(Thread.ofPlatform().name("second"), Deadline.NEVER);

        second.descriptor.raise();

        assertThat(secondWaiting.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(second.reporter.getName()).isEqualTo("first");
        first.descriptor.raise();
        assertThat(firstWaiting.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldContinueOnTheDaemonThreadWhenTheThreadThatPolledStopsWaiting() throws Exception {
        var first = new Source();
        var second = new Source();
        var firstWaiting = first.awaitOn(Thread.ofPlatform().name("first"), Deadline.NEVER);
        assertThat(nextPolling().getName()).isEqualTo("first");
        var secondWaiting = second.awaitOn(Thread.ofPlatform().name("second"), Deadline.NEVER);
        assertThat(nextPolling().getName()).isEqualTo("first"); // now with the second source
        first.descriptor.raise();
        assertThat(firstWaiting.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(nextPolling().getName()).isEqualTo(DAEMON);

        second.descriptor.raise();

        assertThat(secondWaiting.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(second.reporter.getName()).isEqualTo(DAEMON);
    }

    @Test
    void shouldReportAnEventWithoutAThreadThatParks() throws Exception {
        var source = new Source();
        source.descriptor.raise();

        poller.watch(source, SocketCalls.POLLIN);

        assertThat(nextPolling().getName()).isEqualTo(DAEMON);
        assertThat(source.await(Deadline.after(Duration.ofSeconds(30)))).isTrue();
    }

    @Test
    void shouldWakeUpTheThreadThatPolls() throws Exception {
        var source = new Source();
        var waiting = source.awaitOn(Thread.ofPlatform().name("waiting"), Deadline.NEVER);
        assertThat(nextPolling().getName()).isEqualTo("waiting");

        source.hasEvent.set(true);
        source.parker.wakeUp();

        assertThat(waiting.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldNotPollASuspendedSourceUntilItIsResumed() throws Exception {
        var source = new Source();
        var waiting = source.awaitOn(Thread.ofPlatform(), Deadline.NEVER);
        var _ = nextPolling();
        poller.suspend(source);
        source.descriptor.raise();
        var other = new Source();
        other.descriptor.raise();
        assertThat(other.awaitOn(Thread.ofPlatform(), Deadline.NEVER).get(30, TimeUnit.SECONDS))
                .isTrue();
        assertThat(source.reporter).isNull();

        poller.resume(source);

        assertThat(waiting.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldForgetASourceWhileAThreadPolls() throws Exception {
        var source = new Source();
        var waiting = source.awaitOn(Thread.ofPlatform().name("waiting"), Deadline.NEVER);
        assertThat(nextPolling().getName()).isEqualTo("waiting");
        var other = new Source();
        poller.watch(other, SocketCalls.POLLIN);

        poller.forget(other);

        other.descriptor.raise();
        source.descriptor.raise();
        assertThat(waiting.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(other.reporter).isNull();
    }

    @Test
    void shouldPollAfterAWaitThatHasFailed() throws Exception {
        var closed = new Source();
        sources.remove(closed);
        closed.descriptor.close();
        assertThatThrownBy(() -> closed.await(Deadline.NEVER))
                .isInstanceOf(IllegalStateException.class);

        var source = new Source();
        source.descriptor.raise();
        assertThat(source.await(Deadline.NEVER)).isTrue();
    }

    @Test
    void shouldLoseNoEventOfManyThreads() throws Exception {
        var received = new AtomicInteger();
        var receivers = new ArrayList<CompletableFuture<Void>>();
        for (var i = 0; i < 4; i++) {
            var source = new Source();
            var acknowledged = new LinkedBlockingQueue<Boolean>();
            var thread = i == 0 ? Thread.ofVirtual() : Thread.ofPlatform();
            var deadline = i == 1 ? Deadline.after(Duration.ofMinutes(1)) : Deadline.NEVER;
            receivers.add(run(thread, () -> receive(source, deadline, acknowledged, received)));
            receivers.add(run(Thread.ofPlatform(), () -> send(source, acknowledged)));
        }
        CompletableFuture.allOf(receivers.toArray(CompletableFuture[]::new))
                .get(50, TimeUnit.SECONDS);

        assertThat(received).hasValue(4 * ROUNDS);
    }

    @FunctionalInterface
    private interface Task {
        void run() throws Exception;
    }

    private static CompletableFuture<Void> run(Thread.Builder thread, Task task) {
        var end = new CompletableFuture<Void>();
        thread.start(() -> {
            try {
                task.run();
                end.complete(null);
            } catch (Exception | AssertionError e) {
                end.completeExceptionally(e);
            }
        });
        return end;
    }

    private static void receive(
            Source source,
            Deadline deadline,
            BlockingQueue<Boolean> acknowledged,
            AtomicInteger received) {
        for (var round = 0; round < ROUNDS; round++) {
            assertThat(source.await(deadline)).isTrue();
            received.incrementAndGet();
            acknowledged.add(true);
        }
    }

    private static void send(Source source, BlockingQueue<Boolean> acknowledged)
            throws InterruptedException {
        for (var round = 0; round < ROUNDS; round++) {
            source.descriptor.raise();
            acknowledged.take();
        }
    }
}
