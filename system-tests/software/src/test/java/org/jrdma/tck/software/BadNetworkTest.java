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
 * duplicates and reorders packets. The system property {@code jrdma.test.operations} sets the
 * number of operations. With 100,000 operations, the test is expected to finish within two minutes.
 */
class BadNetworkTest {

    private static final int OPERATIONS =
            Integer.getInteger(
                    "jrdma.test.operations",
                    Boolean.getBoolean("jrdma.test.quick") ? 2_000 : 10_000);

    private static final Pattern REPEATED = Pattern.compile("done, with (\\d+) requests repeated");

    /** The probability of each fault. */
    private static final double PROBABILITY = 0.05;

    /** Parses the counts of network faults that a process has printed. */
    private static NetworkFaultCounts parseCounts(String line) {
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

    /** Asserts that each fault occurred about as often as configured. */
    private static void assertConfiguredFaults(NetworkFaultCounts counts) {
        assertThat(counts.sent()).isGreaterThan(OPERATIONS);
        assertShare(counts.lost(), PROBABILITY, counts.sent());
        assertShare(counts.duplicated(), PROBABILITY, counts.sent() - counts.lost());
        // Not every packet that is held back is overtaken: it is sent if no other packet follows in
        // time.
        assertThat(counts.overtaken())
                .isBetween(counts.sent() / 40, (long) (counts.sent() * 1.2 * PROBABILITY));
        assertThat(counts.damaged() + counts.delayed()).isZero();
    }

    /** Asserts that a count differs from its expected value by at most five standard deviations. */
    private static void assertShare(long count, double probability, long total) {
        var tolerance = 5 * Math.sqrt(total * probability * (1 - probability));
        assertThat((double) count).isCloseTo(total * probability, within(tolerance));
    }

    private static ChildJvm start(long seed, long peerSeed) throws Exception {
        return ChildJvm.start(
                List.of(
                        "-Djrdma.soft.loss=" + PROBABILITY,
                        "-Djrdma.soft.duplication=" + PROBABILITY,
                        "-Djrdma.soft.reordering=" + PROBABILITY,
                        "-Djrdma.soft.seed=" + seed),
                MixedTraffic.class,
                String.valueOf(OPERATIONS / 2),
                String.valueOf(seed),
                String.valueOf(peerSeed));
    }

    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldDoEachOperationOnceAndInOrderOverABadNetwork() throws Exception {
        var start = System.nanoTime();
        var counts = new ArrayList<NetworkFaultCounts>();
        try (var first = start(1, 2);
                var second = start(2, 1)) {
            var firstAddress = first.line();
            first.writeLine(second.line());
            second.writeLine(firstAddress);
            for (var peer : List.of(first, second)) {
                peer.line("connected");
            }
            for (var peer : List.of(first, second)) {
                peer.writeLine("begin");
            }
            for (var peer : List.of(first, second)) {
                var done = REPEATED.matcher(peer.line("done"));
                assertThat(done.matches()).isTrue();
                assertThat(Integer.parseInt(done.group(1))).isGreaterThan(OPERATIONS / 20);
                counts.add(parseCounts(peer.line()));
            }
            assertThat(counts).hasSize(2).allSatisfy(BadNetworkTest::assertConfiguredFaults);
            for (var peer : List.of(first, second)) {
                peer.writeLine("check");
            }
            for (var peer : List.of(first, second)) {
                peer.line("all results are correct");
            }
            for (var peer : List.of(first, second)) {
                peer.writeLine("leave");
                peer.end();
            }
        }
        var seconds = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
        System.out.printf(
                Locale.ROOT,
                "%,d operations over a faulty network in %.1f s%n",
                OPERATIONS,
                seconds);
        for (var peerCounts : counts) {
            System.out.printf(
                    Locale.ROOT,
                    "%,d packets sent, %,d lost, %,d duplicated, %,d overtaken%n",
                    peerCounts.sent(),
                    peerCounts.lost(),
                    peerCounts.duplicated(),
                    peerCounts.overtaken());
        }
    }
}
