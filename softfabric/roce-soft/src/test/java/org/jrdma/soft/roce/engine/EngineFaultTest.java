package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that an unexpected exception ends only one queue pair. */
class EngineFaultTest {

    private static final long MILLISECOND = 1_000_000;
    private static final String INJECTED = "injected";

    /** The exception occurs when an answer arrives or when a packet is sent. */
    @ParameterizedTest
    @EnumSource(names = {"RELIABLE", "UNRELIABLE"})
    void shouldFailOnlyTheQueuePairWhoseCompletionSinkThrows(Transport transport) {
        var pair = new Pair(transport, 1);
        pair.connect(4096, 0);
        var broken = broken(pair.left);
        var other = pair.right.newQueuePair(pair.right.domain);
        pair.left.connect(broken, pair.right, other.number(), 14, 7);
        pair.right.connect(other, pair.left, broken.number(), 14, 7);
        // The second time, the flush of a queue pair in the error state fails.
        for (var time = 1; time <= 2; time++) {
            pair.left.write(pair.left.queuePair, time, 100, pair.right);
            pair.left.write(broken, 0, 100, pair.right);
            pair.left.write(pair.left.queuePair, 10 + time, 100, pair.right);
            pair.run(pair.now + MILLISECOND);
            assertThat(broken.state()).isEqualTo(QueuePairState.ERROR);
        }
        assertThat(pair.left.done).extracting(Pair.Done::id).containsExactly(1L, 11L, 2L, 12L);
        assertThat(pair.left.done)
                .extracting(Pair.Done::status)
                .containsOnly(CompletionStatus.SUCCESS);
        assertOnlyInjected(pair);
    }

    @Test
    void shouldFailOnlyTheQueuePairWhoseTimerThrows() {
        var pair = new Pair(Transport.RELIABLE, 1);
        pair.connect(4096, 0);
        var broken = broken(pair.left);
        pair.left.connect(broken, pair.right, 0x99_0055, 8, 0);
        pair.left.write(broken, 0, 100, pair.right);
        pair.run(2 * MILLISECOND);
        assertThat(broken.state()).isEqualTo(QueuePairState.ERROR);
        pair.left.write(pair.left.queuePair, 1, 100, pair.right);
        pair.run();
        assertThat(pair.left.done)
                .extracting(Pair.Done::status)
                .containsExactly(CompletionStatus.SUCCESS);
        assertOnlyInjected(pair);
    }

    /** Checks that the failures were reported. */
    private static void assertOnlyInjected(Pair pair) {
        assertThat(pair.faults).extracting(Throwable::getMessage).containsOnly(INJECTED);
    }

    private static QueuePair broken(Pair.Side side) {
        return side.newQueuePair(
                side.domain,
                _ -> {
                    throw new AssertionError(INJECTED);
                });
    }
}
