package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the cost of the first use of the fabric in a program. */
@Tag("slow")
class StartUpTest {

    private static final Duration MOST = Duration.ofMillis(1_500);

    /** The number of runs, of which the best one counts. */
    private static final int TRIES = 5;

    @Test
    void shouldBeReadyWithinASecondAndAHalf() throws Exception {
        var empty = Duration.ofDays(1);
        var used = empty;
        for (var i = 0; i < TRIES; i++) {
            empty = least(empty, time("nothing"));
            used = least(used, time());
        }

        System.out.printf(
                "An empty JVM takes %d ms, one that opens a device and writes once %d ms more%n",
                empty.toMillis(), used.minus(empty).toMillis());
        assertThat(used.minus(empty)).isLessThan(MOST);
    }

    /** Returns the time from the start to the end of a process, without waits for a processor. */
    private static Duration time(String... arguments) throws Exception {
        var start = System.nanoTime();
        try (var child = ChildJvm.start(List.of(), FirstWrite.class, arguments)) {
            var waited = Long.parseLong(child.line("waited ").substring("waited ".length()));
            child.end();
            return Duration.ofNanos(System.nanoTime() - start - waited);
        }
    }

    private static Duration least(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
