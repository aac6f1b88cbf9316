package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that an unexpected exception in the processing of one queue pair does not affect other
 * queue pairs.
 */
class EngineExceptionIsolationTest {

    private static final long MILLISECOND = 1_000_000;
    private static final String INJECTED = "injected";

    /**
     * For a reliable connection, the completion sink throws an exception when an answer arrives;
     * for an unreliable connection, when a packet is sent.
     */
    @ParameterizedTest
    @EnumSource(names = {"RELIABLE", "UNRELIABLE"})
    void shouldFailOnlyTheQueuePairWhoseCompletionSinkThrows(Transport transport) {
        var pair = new EnginePair(transport, 1);
        pair.connect(4096, 0);
        var failing = newFailingQueuePair(pair.left);
        var other = pair.right.newQueuePair(pair.right.domain);
        pair.left.connect(failing, pair.right, other.number(), 14, 7);
        pair.right.connect(other, pair.left, failing.number(), 14, 7);
        // In the second pass, the queue pair is in the error state, and the flush of its work
        // throws an exception.
        for (var pass = 1; pass <= 2; pass++) {
            pair.left.write(pair.left.queuePair, pass, 100, pair.right);
            pair.left.write(failing, 0, 100, pair.right);
            pair.left.write(pair.left.queuePair, 10 + pass, 100, pair.right);
            pair.run(pair.now + MILLISECOND);
            assertThat(failing.state()).isEqualTo(QueuePairState.ERROR);
        }
        assertThat(pair.left.done)
                .extracting(EnginePair.Done::id)
                .containsExactly(1L, 11L, 2L, 12L);
        assertThat(pair.left.done)
                .extracting(EnginePair.Done::status)
                .containsOnly(CompletionStatus.SUCCESS);
        assertOnlyInjectedExceptions(pair);
    }

    @Test
    void shouldFailOnlyTheQueuePairWhoseTimerThrows() {
        var pair = new EnginePair(Transport.RELIABLE, 1);
        pair.connect(4096, 0);
        var failing = newFailingQueuePair(pair.left);
        pair.left.connect(failing, pair.right, 0x99_0055, 8, 0);
        pair.left.write(failing, 0, 100, pair.right);
        pair.run(2 * MILLISECOND);
        assertThat(failing.state()).isEqualTo(QueuePairState.ERROR);
        pair.left.write(pair.left.queuePair, 1, 100, pair.right);
        pair.run();
        assertThat(pair.left.done)
                .extracting(EnginePair.Done::status)
                .containsExactly(CompletionStatus.SUCCESS);
        assertOnlyInjectedExceptions(pair);
    }

    /**
     * If memory is exhausted while completions are reported, the thread that drives the engine must
     * report them later.
     */
    @Test
    void shouldFlushAllWorkRequestsWhenMemoryIsAvailableAgain() {
        var pair = new EnginePair(Transport.RELIABLE, 1);
        pair.connect(4096, 0);
        var statuses = new ArrayList<CompletionStatus>();
        var isMemoryExhausted = new boolean[] {true};
        var failing =
                pair.left.newQueuePair(
                        pair.left.domain,
                        completion -> {
                            if (isMemoryExhausted[0]) {
                                throw new OutOfMemoryError(INJECTED);
                            }
                            return statuses.add(completion.status());
                        });
        pair.left.connect(failing, pair.right, 0x99_0055, 8, 0);
        for (var id = 0; id < 5; id++) {
            pair.left.write(failing, id, 100, pair.right);
        }
        pair.run(100 * MILLISECOND);
        assertThat(failing.state()).isEqualTo(QueuePairState.ERROR);

        isMemoryExhausted[0] = false;
        pair.run();

        assertThat(statuses).hasSize(5).doesNotContain(CompletionStatus.SUCCESS);
        assertOnlyInjectedExceptions(pair);
    }

    @Test
    void shouldContinueWhenAnAlarmThrows() {
        var pair = new EnginePair(Transport.RELIABLE, 1);
        pair.connect(4096, 0);
        pair.left.engine.alarm(
                MILLISECOND,
                () -> {
                    throw new OutOfMemoryError(INJECTED);
                });
        var ran = new boolean[1];
        pair.left.engine.alarm(MILLISECOND, () -> ran[0] = true);

        pair.run();

        assertThat(ran[0]).isTrue();
        assertOnlyInjectedExceptions(pair);
    }

    /** Asserts that the engines reported exceptions, and only those that this test has injected. */
    private static void assertOnlyInjectedExceptions(EnginePair pair) {
        assertThat(pair.exceptions).extracting(Throwable::getMessage).containsOnly(INJECTED);
    }

    /** Creates a queue pair whose completion sink throws an exception. */
    private static QueuePair newFailingQueuePair(EnginePair.Side side) {
        return side.newQueuePair(
                side.domain,
                _ -> {
                    throw new AssertionError(INJECTED);
                });
    }
}
