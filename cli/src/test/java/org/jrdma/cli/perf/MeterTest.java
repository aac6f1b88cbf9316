package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class MeterTest {

    /** The first exchange after a word with the other side finds it busy. */
    private static final class SlowToBegin implements Link {

        private static final Duration PAUSE = Duration.ofMillis(15);

        private boolean begins;

        @Override
        public void prepare(int bytes) {
            begins = true;
        }

        @Override
        public void exchange(int bytes) {
            if (begins) {
                pause();
            }
            begins = false;
        }

        private static void pause() {
            try {
                Thread.sleep(PAUSE);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void stream(int bytes, int count) {}

        @Override
        public void close() {}
    }

    @Test
    void shouldNotCountTheBeginningOfABatch() throws Exception {
        var path =
                new Path(
                        "slow",
                        "slow to begin",
                        1,
                        8,
                        false,
                        Optional.empty(),
                        (_, _, measures) -> measures ? new SlowToBegin() : new Idle());

        try (var sides = BothSides.connected();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var helping =
                    threads.submit(() -> {
                        new Helper(sides.there(), List.of(path)).help();
                        return null;
                    });
            try (var meter = Meter.open(sides.here(), path, 8)) {
                var latency = meter.latency(8, Duration.ofMillis(200));

                assertThat(latency.percentile99())
                        .isLessThan(SlowToBegin.PAUSE.toNanos() / 1_000.0);
            }
            assertThat(helping).succeedsWithin(ControlChannel.PATIENCE);
        }
    }
}
