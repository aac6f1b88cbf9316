package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.AsyncEvent;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the asynchronous events of a device. On kernel devices, the tests that take a port down
 * need root privileges.
 */
class AsyncEventTest {

    private static final Duration LONG = Duration.ofSeconds(10);

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
    void shouldStopWaitingWhenTheTimeoutExpires() {
        assertThatThrownBy(() -> device.nextEvent(Duration.ofMillis(30)))
                .isInstanceOf(FabricTimeoutException.class)
                .hasMessageContaining(device.toString());
    }

    @Test
    void shouldStopWaitingWhenInterrupted() throws Exception {
        var failure = new CompletableFuture<Throwable>();
        startWaiting(failure).interrupt();

        assertThat(failure.get(10, TimeUnit.SECONDS)).isInstanceOf(InterruptedIOException.class);
    }

    @Test
    void shouldStopWaitingWhenClosed() throws Exception {
        var failure = new CompletableFuture<Throwable>();
        startWaiting(failure);

        device.close();

        assertThat(failure.get(10, TimeUnit.SECONDS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(device.toString())
                .hasMessageContaining("closed");
    }

    private Thread startWaiting(CompletableFuture<Throwable> failure) throws InterruptedException {
        return BackgroundCalls.start(Thread.ofPlatform(), () -> device.nextEvent(LONG), failure);
    }

    @Test
    void shouldReportThatAPortGoesDownAndComesBack() throws Exception {
        fabric.needs(Feature.PORT_EVENTS);
        try (var _ = fabric.cable().pull(device)) {
            assertPortEvent(await(AsyncEventType.PORT_ERROR));
            assertThat(device.port(1).state()).isNotEqualTo(PortAttributes.State.ACTIVE);
        }
        assertPortEvent(await(AsyncEventType.PORT_ACTIVE));
        assertThat(device.port(1).state()).isEqualTo(PortAttributes.State.ACTIVE);
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, OutOfMemoryError.class})
    void shouldNotifyAListenerAgainAfterItThrew(Class<? extends Throwable> failure)
            throws Exception {
        fabric.needs(Feature.PORT_EVENTS);
        var received = new LinkedBlockingQueue<AsyncEvent>();
        device.onEvent(event -> {
            received.add(event);
            if (failure == OutOfMemoryError.class) {
                throw new OutOfMemoryError("thrown by the listener, on purpose");
            }
            throw new IllegalStateException("thrown by the listener, on purpose");
        });
        fabric.cable().pull(device).close();
        AsyncEvent event;
        do {
            event = received.poll(10, TimeUnit.SECONDS);
            assertThat(event).as("the event PORT_ACTIVE").isNotNull();
        } while (event.type() != AsyncEventType.PORT_ACTIVE);
        assertPortEvent(event);
    }

    @Test
    void shouldReportAnOverrunOfACompletionQueue() throws Exception {
        fabric.needs(Feature.OVERRUN_EVENTS);
        fabric.needs(Feature.MOVING_DATA);
        fabric.needs(Feature.CONNECTING_BY_MODIFY);
        try (var domain = device.newProtectionDomain();
                var memory = domain.newArena(Pair.ALL);
                var small = device.newCompletionQueue(CompletionQueueOptions.capacity(1));
                var other = device.newCompletionQueue(16);
                var left =
                        domain.newQueuePair(
                                QueuePairOptions.reliable(small)
                                        .sends(64)
                                        .receives(1)
                                        .completionQueueMayOverrun());
                var right =
                        domain.newQueuePair(
                                QueuePairOptions.reliable(other).sends(1).receives(1))) {
            left.connect(right.endpoint());
            right.connect(left.endpoint());
            var region = memory.region(64);
            var write = left.prepareWrite(region.slice(0, 8), region.remote());
            while (write.tryPost()) {
                // The loop fills the send queue, so that more completions arrive than the
                // completion queue can hold.
            }

            var event = await(AsyncEventType.COMPLETION_QUEUE_ERROR);

            assertThat(event.subject()).containsSame(small);
            assertThat(event.port()).isEmpty();
        }
    }

    private void assertPortEvent(AsyncEvent event) {
        assertThat(event.port()).hasValue(1);
        assertThat(event.subject()).isEmpty();
    }

    /**
     * Waits for an event of the given type, and ignores events of other types, such as GID changes.
     */
    private AsyncEvent await(AsyncEventType type) throws Exception {
        while (true) {
            var event = device.nextEvent(LONG);
            if (event.type() == type) {
                return event;
            }
        }
    }
}
