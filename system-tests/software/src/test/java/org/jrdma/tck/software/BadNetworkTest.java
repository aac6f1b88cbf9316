package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs all operations of a reliable connection between two processes over a network that loses,
 * duplicates and reorders packets. {@code -Djrdma.test.operations=100000} is the number that the
 * fabric is expected to do in two minutes.
 */
class BadNetworkTest {

    private static final int OPERATIONS =
            Integer.getInteger(
                    "jrdma.test.operations",
                    Boolean.getBoolean("jrdma.test.quick") ? 2_000 : 10_000);

    private static final Pattern REPEATED = Pattern.compile("done, with (\\d+) requests repeated");

    /** The probability of each fault. */
    private static final double PROBABILITY = 0.05;

    /** The counts of faults that a process reports for a device. */
    private static NetworkFaultCounts troubles(String line) {
        var numbers =
                Pattern.compile("\\d+")
                        .matcher(line)
                        .results()
                        .mapToLong(number -> Long.parseLong(number.group()))
                        .toArray();
        var counts =
                new NetworkFaultCounts(
                        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
        assertThat(line).isEqualTo(counts.toString());
        return counts;
    }

    /** Asserts that each fault occurred with the configured probability. */
    private static void assertAsBadAsToldTo(NetworkFaultCounts counts) {
        assertThat(counts.sent()).isGreaterThan(OPERATIONS);
        assertShare(counts.lost(), PROBABILITY, counts.sent());
        assertShare(counts.duplicated(), PROBABILITY, counts.sent() - counts.lost());
        // Some delayed packets are sent before another packet overtakes them.
        assertThat(counts.overtaken())
                .isBetween(counts.sent() / 40, (long) (counts.sent() * 1.2 * PROBABILITY));
        assertThat(counts.damaged() + counts.delayed()).isZero();
    }

    /** Asserts that a count is within five standard deviations. */
    private static void assertShare(long count, double probability, long of) {
        var off = 5 * Math.sqrt(of * probability * (1 - probability));
        assertThat((double) count).isCloseTo(of * probability, within(off));
    }

    private static ChildJvm side(long seed, long other) throws Exception {
        return ChildJvm.start(
                List.of(
                        "-Djrdma.soft.loss=" + PROBABILITY,
                        "-Djrdma.soft.duplication=" + PROBABILITY,
                        "-Djrdma.soft.reordering=" + PROBABILITY,
                        "-Djrdma.soft.seed=" + seed),
                MixedTraffic.class,
                String.valueOf(OPERATIONS / 2),
                String.valueOf(seed),
                String.valueOf(other));
    }

    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldDoEachOperationOnceAndInOrderOverABadNetwork() throws Exception {
        var start = System.nanoTime();
        var all = new ArrayList<NetworkFaultCounts>();
        try (var one = side(1, 2);
                var other = side(2, 1)) {
            var addressOfOne = one.line();
            one.tell(other.line());
            other.tell(addressOfOne);
            for (var side : List.of(one, other)) {
                side.line("connected");
            }
            for (var side : List.of(one, other)) {
                side.tell("begin");
            }
            for (var side : List.of(one, other)) {
                var done = REPEATED.matcher(side.line("done"));
                assertThat(done.matches()).isTrue();
                assertThat(Integer.parseInt(done.group(1))).isGreaterThan(OPERATIONS / 20);
                all.add(troubles(side.line()));
            }
            assertThat(all).hasSize(2).allSatisfy(BadNetworkTest::assertAsBadAsToldTo);
            for (var side : List.of(one, other)) {
                side.tell("check");
            }
            for (var side : List.of(one, other)) {
                side.line("all was right");
            }
            for (var side : List.of(one, other)) {
                side.tell("leave");
                side.end();
            }
        }
        var seconds = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
        System.out.printf(
                Locale.ROOT, "%,d operations over a bad network in %.1f s%n", OPERATIONS, seconds);
        for (var counts : all) {
            System.out.printf(
                    Locale.ROOT,
                    "%,d packets sent, %,d lost, %,d duplicated, %,d overtaken%n",
                    counts.sent(),
                    counts.lost(),
                    counts.duplicated(),
                    counts.overtaken());
        }
    }
}
