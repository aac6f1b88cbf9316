package org.jrdma.stress.fuzz;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.jrdma.stress.fuzz.WaitingCallWatchdog.Usage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that a run of the fuzzer fails if its JVM crashes, hangs or leaks. */
class FailedRunDetectionTest {

    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final long MEGABYTE = 1 << 20;

    private static final Usage FIRST = new Usage(50 * MEGABYTE, 30, 20, 200 * MEGABYTE);

    /** A program that fails in the way that its argument names. */
    static final class FailingProgram {

        private FailingProgram() {}

        @SuppressWarnings("restricted") // The crash is the purpose.
        public static void main(String... arguments) {
            if (arguments[0].equals("hang")) {
                WaitingCallWatchdog.hang("the call of a test");
            }
            // An address that is never mapped.
            MemorySegment.ofAddress(8).reinterpret(8).set(JAVA_LONG, 0, 1);
        }
    }

    @ParameterizedTest
    @CsvSource({"crash, SIGSEGV", "hang, FINDING hang: the call of a test"})
    void shouldReportAFailureOfTheJvm(String failure, String report) throws Exception {
        var child =
                Child.start(
                        "failing-" + failure,
                        List.of(),
                        List.of(),
                        FailingProgram.class,
                        List.of(failure));

        assertThatThrownBy(() -> child.awaitSuccess(TIMEOUT))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(report)
                .hasMessageContaining("FailingProgram"); // in the stack of the thread
    }

    @ParameterizedTest
    @CsvSource({
        "60, 30, 20, 200, heap bytes",
        "50, 47, 20, 200, descriptors",
        "50, 30, 37, 200, threads",
        "50, 30, 20, 330, resident bytes",
    })
    void shouldReportAResourceThatHasGrown(
            long heap, long descriptors, long threads, long resident, String name) {
        var last = new Usage(heap * MEGABYTE, descriptors, threads, resident * MEGABYTE);

        assertThat(last.growthSince(FIRST)).startsWith(name + ": from ");
    }

    @Test
    void shouldTolerateTheGrowthOfPoolsAndOfCompiledCode() {
        var last = new Usage(57 * MEGABYTE, 40, 30, 300 * MEGABYTE);

        assertThat(last.growthSince(FIRST)).isEmpty();
    }
}
