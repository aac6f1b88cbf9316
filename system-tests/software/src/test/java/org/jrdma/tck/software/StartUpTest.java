package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests how much time the first use of the software fabric adds to the running time of a program.
 */
@Tag("slow")
class StartUpTest {

    private static final Duration MAX_TIME = Duration.ofMillis(1_500);

    /**
     * The number of runs of each program. Only the fastest run counts, because other processes can
     * delay a run.
     */
    private static final int TRIES = 5;

    @Test
    void shouldBeReadyWithinASecondAndAHalf() throws Exception {
        var empty = Duration.ofDays(1);
        var writing = empty;
        for (var i = 0; i < TRIES; i++) {
            empty = min(empty, time("nothing"));
            writing = min(writing, time());
        }

        System.out.printf(
                "An empty JVM takes %d ms, one that opens a device and writes once %d ms more%n",
                empty.toMillis(), writing.minus(empty).toMillis());
        assertThat(writing.minus(empty)).isLessThan(MAX_TIME);
    }

    /**
     * Returns the running time of a child process, without the time that its main thread has waited
     * for a processor.
     */
    private static Duration time(String... arguments) throws Exception {
        var start = System.nanoTime();
        try (var child = ChildJvm.start(List.of(), SingleWriteProgram.class, arguments)) {
            var waited = Long.parseLong(child.line("waited ").substring("waited ".length()));
            child.end();
            return Duration.ofNanos(System.nanoTime() - start - waited);
        }
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
