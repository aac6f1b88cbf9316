package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class MeterTest {

    /** A link whose first exchange of each batch is slow. */
    private static final class SlowStart implements LinkEnd {

        private static final Duration PAUSE = Duration.ofMillis(15);

        private boolean isFirstExchange;

        @Override
        public void prepare(int bytes) {
            isFirstExchange = true;
        }

        @Override
        public void exchange(int bytes) {
            if (isFirstExchange) {
                pause();
            }
            isFirstExchange = false;
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
    void shouldNotMeasureTheFirstExchangeOfABatch() throws Exception {
        var path =
                new Path(
                        "slow",
                        "slow start",
                        1,
                        8,
                        false,
                        Optional.empty(),
                        (_, _, measures) -> measures ? new SlowStart() : new NoOpLink());

        try (var sides = ControlChannelPair.connected();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var responding =
                    threads.submit(() -> {
                        new Responder(sides.there(), List.of(path)).run();
                        return null;
                    });
            try (var meter = MeasuringSide.open(sides.here(), path, 8)) {
                var latency = meter.latency(8, Duration.ofMillis(200));

                assertThat(latency.percentile99()).isLessThan(SlowStart.PAUSE.toNanos() / 1_000.0);
            }
            assertThat(responding).succeedsWithin(ControlChannel.TIMEOUT);
        }
    }
}
