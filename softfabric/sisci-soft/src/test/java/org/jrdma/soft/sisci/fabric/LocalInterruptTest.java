package org.jrdma.soft.sisci.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LocalInterruptTest {

    private static final int ROUNDS = 1_000;
    private static final int WAIT_MILLIS = 30_000;
    private static final int OVERFLOW = -1;

    @Test
    void shouldNotReturnDataBeyondTheCapacityWhileAnotherThreadTakesData() throws Exception {
        try (var callbacks = new CallbackThread(Duration.ZERO);
                var threads = Executors.newFixedThreadPool(2)) {
            var interrupt =
                    new LocalInterrupt(
                            null,
                            null,
                            new TypedInterruptNumber(true, 1),
                            false,
                            EventQueue.unbounded(callbacks, null),
                            null);
            Callable<Integer> await = () -> takenBytes(interrupt, 4);

            for (var round = 0; round < ROUNDS; round++) {
                var results = List.of(threads.submit(await), threads.submit(await));
                interrupt.trigger(new LocalInterrupt.Trigger(new byte[4], () -> {}));
                interrupt.trigger(new LocalInterrupt.Trigger(new byte[8], () -> {}));

                assertThat(List.of(results.getFirst().get(), results.getLast().get()))
                        .containsExactlyInAnyOrder(4, OVERFLOW);
                assertThat(interrupt.awaitData(WAIT_MILLIS, 8)).hasSize(8);
            }
        }
    }

    private static int takenBytes(LocalInterrupt interrupt, long capacity) {
        try {
            return interrupt.awaitData(WAIT_MILLIS, capacity).length;
        } catch (SciException e) {
            return OVERFLOW;
        }
    }
}
