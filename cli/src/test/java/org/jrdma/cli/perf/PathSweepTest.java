package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PathSweepTest {

    private static final Duration TIME = Duration.ofMillis(1);

    private final List<Integer> opened = new ArrayList<>();
    private int failing;

    /** A link without a network. */
    private final class LocalLink implements LinkEnd {

        @Override
        public void exchange(int bytes) throws IOException {
            if (bytes == failing) {
                throw new IOException("it broke");
            }
        }

        @Override
        public void stream(int bytes, int count) {}

        @Override
        public void close() {}
    }

    private final Path path =
            new Path(
                    "local",
                    "",
                    1,
                    1_024,
                    false,
                    Optional.empty(),
                    (_, largest, measures) -> {
                        if (!measures) {
                            return new NoOpLink();
                        }
                        opened.add(largest);
                        return new LocalLink();
                    });
    private final PathSweep sweep = new PathSweep(path, List.of(64, 8, 512), new MachineStates(1));

    private void measurePass() throws IOException {
        try (var host = new TestPeer(path);
                var channel = Peer.parse(host.address(), 0).connect()) {
            sweep.measurePass(channel, TIME, TIME);
        }
    }

    private List<Integer> measuredSizes() {
        return sweep.results().stream().map(Result::bytes).toList();
    }

    @Test
    void shouldOrderResultsBySize() throws Exception {
        assertThat(sweep.results()).isEmpty();

        measurePass();

        assertThat(measuredSizes()).containsExactly(8, 64, 512);
        assertThat(opened).containsExactly(512);
        assertThat(sweep.incompleteSizes()).isEqualTo(3);
    }

    @Test
    void shouldKeepTheSizesThatWereMeasuredBeforeAFailure() throws Exception {
        failing = 64;

        assertThatIOException().isThrownBy(this::measurePass).withMessage("it broke");

        assertThat(measuredSizes()).containsExactly(8);
    }
}
