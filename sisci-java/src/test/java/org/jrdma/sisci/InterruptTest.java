package org.jrdma.sisci;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class InterruptTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private FakeLibrary library;
    private Node node;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary(Kind.WITH_CONSTANTS);
        node = library.sisci.open();
    }

    @AfterEach
    void close() {
        node.close();
    }

    @Test
    void shouldWakeUpAWaitingThread() throws Exception {
        var interrupt = node.newInterrupt();
        var remote = node.connectInterrupt(4, interrupt.number(), TIMEOUT);

        remote.trigger();
        interrupt.await(TIMEOUT);

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(Duration.ofMillis(1)))
                .withMessage("No trigger of interrupt 17 of node 4 within 0.001s");
    }

    @Test
    void shouldWaitInTheLibraryWithoutACallback() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asAwaited());
        var remote = node.connectInterrupt(4, interrupt.number(), TIMEOUT);

        remote.trigger();
        interrupt.await(TIMEOUT);

        assertThat(library.calls("SCIWaitForInterrupt")).isOne();
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(Duration.ofMillis(1)))
                .withMessage("No trigger of interrupt 17 of node 4 within 0.001s");
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(Duration.ofMillis(-1)));
        assertThatIllegalStateException()
                .isThrownBy(() -> interrupt.onTrigger(() -> {}))
                .withMessageContaining("asAwaited");
    }

    @Test
    void shouldEndAWaitInTheLibraryOnAThreadInterruptAndOnClose() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asAwaited());
        for (var builder : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
            var failure = new CompletableFuture<Throwable>();
            var thread =
                    builder.start(() -> {
                        failure.complete(catchThrowable(() -> interrupt.await(Duration.ofDays(1))));
                    });
            Thread.sleep(20);

            thread.interrupt();

            assertThat(failure.get(5, TimeUnit.SECONDS)).isInstanceOf(InterruptedIOException.class);
        }
        var failure = new CompletableFuture<Throwable>();
        Thread.ofPlatform()
                .start(() ->
                        failure.complete(
                                catchThrowable(() -> interrupt.await(Duration.ofDays(1)))));
        Thread.sleep(20);

        interrupt.close();

        assertThat(failure.get(5, TimeUnit.SECONDS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("interrupt 17 of node 4 is closed");
    }

    @Test
    void shouldReportAFailureOfAWaitInTheLibrary() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asAwaited());
        library.fail("SCIWaitForInterrupt", sisci_h.SCI_ERR_CANCELLED(), 1);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> interrupt.await(TIMEOUT))
                .withMessageStartingWith("SCIWaitForInterrupt failed for interrupt 17 of node 4");
    }

    @Test
    void shouldCountStoresAtAFlagAndReportARace() throws Exception {
        try (var segment = node.newSegment(7, 4096)) {
            var flag = segment.newInterruptFlag(4, true);
            assertThat(flag.offset()).isEqualTo(4);

            assertThat(flag.tryEnable()).isTrue();
            flag.await(TIMEOUT);
            assertThat(flag.count()).isEqualTo(1);
            flag.disable();
            assertThat(flag.count()).isZero();

            assertThat(segment.newInterruptFlag(8, true).tryEnable())
                    .as("after the timeout")
                    .isFalse();
            var busy = segment.newInterruptFlag(12, true);
            assertThatExceptionOfType(SisciException.class)
                    .isThrownBy(busy::count)
                    .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.OVERFLOW));
        }
    }

    @Test
    void shouldRejectAFlagBeyondItsSegmentAndNameOneThatTheDriverRejects() throws Exception {
        try (var segment = node.newSegment(7, 4096)) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> segment.newInterruptFlag(4093, true));
            assertThatExceptionOfType(SisciException.class)
                    .isThrownBy(() -> segment.newInterruptFlag(4, false))
                    .withMessageStartingWith(
                            "SCIRegisterInterruptFlag failed for interrupt flag at 4 of segment 7 of node 4: ILLEGAL_PARAMETER");
        }
    }

    @Test
    void shouldCallTheListenerOnAJavaThreadAndAllowItToClose() throws Exception {
        var interrupt = node.newInterrupt();
        var received = new ArrayBlockingQueue<Boolean>(1);
        interrupt.onTrigger(() -> {
            interrupt.close();
            received.add(Thread.currentThread().isVirtual());
        });

        node.connectInterrupt(4, interrupt.number(), TIMEOUT).trigger();

        assertThat(received.poll(5, TimeUnit.SECONDS)).isTrue();
        assertThat(library.calls("SCIRemoveInterrupt")).isOne();
    }

    @Test
    void shouldUseTheRequestedNumber() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.number(99));

        assertThat(interrupt.number()).isEqualTo(99);
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.newInterrupt(InterruptOptions.number(99)))
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.INTERRUPT_NUMBER_USED));
    }

    @Test
    void shouldDeliverMessagesInOrder() throws Exception {
        var interrupt = node.newDataInterrupt();
        var remote = node.connectDataInterrupt(4, interrupt.number(), TIMEOUT);

        remote.trigger("Saluton".getBytes(UTF_8));
        remote.trigger("mondo".getBytes(UTF_8));

        assertThat(interrupt.receive(TIMEOUT)).asString(UTF_8).isEqualTo("Saluton");
        assertThat(interrupt.receive(TIMEOUT)).asString(UTF_8).isEqualTo("mondo");
    }

    @Test
    void shouldPassACopyOfTheMessageToTheListener() throws Exception {
        var interrupt = node.newDataInterrupt();
        var received = new ArrayBlockingQueue<byte[]>(1);
        interrupt.onMessage(received::add);

        node.connectDataInterrupt(4, interrupt.number(), TIMEOUT).trigger(new byte[] {1, 2, 3});

        assertThat(received.poll(5, TimeUnit.SECONDS)).containsExactly(1, 2, 3);
    }

    @Test
    void shouldRetryWhileTheQueueOfThePeerIsFull() throws Exception {
        var interrupt = node.newDataInterrupt();
        var remote = node.connectDataInterrupt(4, interrupt.number(), TIMEOUT);
        library.fail("SCITriggerDataInterrupt", sisci_h.SCI_ERR_NOSPC(), 3);

        remote.trigger(new byte[] {7}, TIMEOUT);

        assertThat(interrupt.receive(TIMEOUT)).containsExactly(7);
        assertThat(library.calls("SCITriggerDataInterrupt")).isEqualTo(4);
        library.fail("SCITriggerDataInterrupt", sisci_h.SCI_ERR_NOSPC(), Integer.MAX_VALUE);
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> remote.trigger(new byte[] {7}))
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.NO_SPACE));
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> remote.trigger(new byte[] {7}, Duration.ofMillis(5)))
                .withMessageStartingWith("No space for a message to data interrupt 17 of node 4");
    }

    @Test
    void shouldRejectAMessageThatIsTooLong() throws Exception {
        var interrupt = node.newDataInterrupt();
        var remote = node.connectDataInterrupt(4, interrupt.number(), TIMEOUT);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> remote.trigger(new byte[1000], TIMEOUT))
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.OVERFLOW));
    }

    @Test
    void shouldRejectUnsupportedOptionsOfADataInterrupt() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.newDataInterrupt(InterruptOptions.ANY.asShared()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.newDataInterrupt(InterruptOptions.ANY.asCounting()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.newDataInterrupt(InterruptOptions.ANY.asAwaited()));
    }

    @Test
    void shouldEndAWaitOnAThreadInterruptAndOnClose() throws Exception {
        var interrupt = node.newDataInterrupt();
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> interrupt.receive(TIMEOUT));
        assertThat(Thread.interrupted()).isTrue();

        interrupt.close();
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> interrupt.receive(TIMEOUT));
    }

    @Test
    void shouldRejectATriggerAfterClose() throws Exception {
        var interrupt = node.newInterrupt();
        var remote = node.connectInterrupt(4, interrupt.number(), TIMEOUT);

        remote.close();

        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(remote::trigger);
        assertThat(library.calls("SCITriggerInterrupt")).isZero();
    }
}
