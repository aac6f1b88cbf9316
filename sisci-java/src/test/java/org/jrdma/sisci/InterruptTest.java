package org.jrdma.sisci;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.TinyLibrary.Kind;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class InterruptTest {

    private static final Duration SOON = Duration.ofSeconds(5);

    private TinyLibrary library;
    private Node node;

    @BeforeEach
    void open() throws Exception {
        library = new TinyLibrary(Kind.WITH_CONSTANTS);
        node = library.sisci.open();
    }

    @AfterEach
    void close() {
        node.close();
    }

    @Test
    void shouldWakeWhoWaits() throws Exception {
        var interrupt = node.newInterrupt();
        var remote = node.connectInterrupt(4, interrupt.number(), SOON);

        remote.trigger();
        interrupt.await(SOON);

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(Duration.ofMillis(1)))
                .withMessage("Nobody triggered interrupt 17 of node 4 within 0.001s");
    }

    @Test
    void shouldCountWhatIsStoredAtAFlagAndSayWhetherItWasEnabledInTime() throws Exception {
        try (var segment = node.newSegment(7, 4096)) {
            var flag = segment.newInterruptFlag(4, true);
            assertThat(flag.offset()).isEqualTo(4);

            assertThat(flag.tryEnable()).isTrue();
            flag.await(SOON);
            assertThat(flag.count()).isEqualTo(1);
            flag.disable();
            assertThat(flag.count()).isZero();

            assertThat(segment.newInterruptFlag(8, true).tryEnable()).as("too late").isFalse();
            var busy = segment.newInterruptFlag(12, true);
            assertThatExceptionOfType(SisciException.class)
                    .isThrownBy(busy::count)
                    .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.OVERFLOW));
        }
    }

    @Test
    void shouldRefuseAFlagBeyondItsSegmentAndSayWhichTheDriverRefused() throws Exception {
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
    void shouldCallItsListenerOnAThreadOfJavasAndLetItCloseTheInterrupt() throws Exception {
        var interrupt = node.newInterrupt();
        var heard = new ArrayBlockingQueue<Boolean>(1);
        interrupt.onTrigger(() -> {
            interrupt.close();
            heard.add(Thread.currentThread().isVirtual());
        });

        node.connectInterrupt(4, interrupt.number(), SOON).trigger();

        assertThat(heard.poll(5, TimeUnit.SECONDS)).isTrue();
        assertThat(library.calls("SCIRemoveInterrupt")).isOne();
    }

    @Test
    void shouldHaveTheNumberThatIsAskedFor() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.number(99));

        assertThat(interrupt.number()).isEqualTo(99);
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.newInterrupt(InterruptOptions.number(99)))
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.INTERRUPT_NUMBER_USED));
    }

    @Test
    void shouldCarryMessagesInTheirOrder() throws Exception {
        var interrupt = node.newDataInterrupt();
        var remote = node.connectDataInterrupt(4, interrupt.number(), SOON);

        remote.trigger("Saluton".getBytes(UTF_8));
        remote.trigger("mondo".getBytes(UTF_8));

        assertThat(interrupt.receive(SOON)).asString(UTF_8).isEqualTo("Saluton");
        assertThat(interrupt.receive(SOON)).asString(UTF_8).isEqualTo("mondo");
    }

    @Test
    void shouldGiveItsListenerACopyOfTheMessage() throws Exception {
        var interrupt = node.newDataInterrupt();
        var heard = new ArrayBlockingQueue<byte[]>(1);
        interrupt.onMessage(heard::add);

        node.connectDataInterrupt(4, interrupt.number(), SOON).trigger(new byte[] {1, 2, 3});

        assertThat(heard.poll(5, TimeUnit.SECONDS)).containsExactly(1, 2, 3);
    }

    @Test
    void shouldTryAgainWhileThePeerIsBehind() throws Exception {
        var interrupt = node.newDataInterrupt();
        var remote = node.connectDataInterrupt(4, interrupt.number(), SOON);
        library.fail("SCITriggerDataInterrupt", sisci_h.SCI_ERR_NOSPC(), 3);

        remote.trigger(new byte[] {7}, SOON);

        assertThat(interrupt.receive(SOON)).containsExactly(7);
        assertThat(library.calls("SCITriggerDataInterrupt")).isEqualTo(4);
        library.fail("SCITriggerDataInterrupt", sisci_h.SCI_ERR_NOSPC(), Integer.MAX_VALUE);
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> remote.trigger(new byte[] {7}))
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.NO_SPACE));
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> remote.trigger(new byte[] {7}, Duration.ofMillis(5)))
                .withMessageStartingWith("No room for a message to data interrupt 17 of node 4");
    }

    @Test
    void shouldRefuseAMessageThatIsTooLong() throws Exception {
        var interrupt = node.newDataInterrupt();
        var remote = node.connectDataInterrupt(4, interrupt.number(), SOON);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> remote.trigger(new byte[1000], SOON))
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.OVERFLOW));
    }

    @Test
    void shouldRefuseOptionsThatAnInterruptWithDataDoesNotHave() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.newDataInterrupt(InterruptOptions.ANY.asShared()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.newDataInterrupt(InterruptOptions.ANY.asCounting()));
    }

    @Test
    void shouldEndAWaitByAnInterruptAndByTheClose() throws Exception {
        var interrupt = node.newDataInterrupt();
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> interrupt.receive(SOON));
        assertThat(Thread.interrupted()).isTrue();

        interrupt.close();
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> interrupt.receive(SOON));
    }

    @Test
    void shouldRefuseToTriggerAfterItsClose() throws Exception {
        var interrupt = node.newInterrupt();
        var remote = node.connectInterrupt(4, interrupt.number(), SOON);

        remote.close();

        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(remote::trigger);
        assertThat(library.calls("SCITriggerInterrupt")).isZero();
    }
}
