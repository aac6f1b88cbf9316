package org.jrdma.sockets.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RsocketClosingStepsTest {

    /** Otherwise, a failure of a shutdown would prevent the close. */
    @Test
    void shouldRunEachClosingStepAlthoughEarlierOnesHaveFailed() {
        var steps = new AtomicInteger();
        Runnable failing =
                () -> {
                    steps.incrementAndGet();
                    throw new IllegalStateException("thrown by the step, on purpose");
                };

        var shutdown =
                RsocketStream.afterwards(
                        CompletableFuture.completedFuture(null),
                        () -> CompletableFuture.completedFuture(null),
                        failing,
                        Runnable::run);
        var close =
                RsocketStream.afterwards(
                        shutdown,
                        () -> {
                            throw new IllegalStateException("thrown by the message, on purpose");
                        },
                        steps::incrementAndGet,
                        Runnable::run);

        assertThat(close).isCompletedWithValue(null);
        assertThat(steps).hasValue(2);
    }
}
