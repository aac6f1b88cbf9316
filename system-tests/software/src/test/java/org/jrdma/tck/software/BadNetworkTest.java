package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Everything a reliable connection can do, between two processes over a network that loses,
 * duplicates and reorders. {@code -Djrdma.test.operations=100000} for as many as the fabric
 * promises to do in two minutes.
 */
class BadNetworkTest {

    private static final int OPERATIONS = Integer.getInteger("jrdma.test.operations", 10_000);
    private static final Pattern REPEATED = Pattern.compile("done, with (\\d+) requests repeated");

    private static ChildJvm side(long seed, long other) throws Exception {
        return ChildJvm.start(
                List.of(
                        "-Djrdma.soft.loss=0.05",
                        "-Djrdma.soft.duplication=0.05",
                        "-Djrdma.soft.reordering=0.05",
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
                // The network was as bad as it was told to be.
                assertThat(Integer.parseInt(done.group(1))).isGreaterThan(OPERATIONS / 20);
            }
            for (var side : List.of(one, other)) {
                side.tell("check");
            }
            for (var side : List.of(one, other)) {
                side.line("all was right");
            }
            for (var side : List.of(one, other)) {
                side.tell("leave");
                assertThat(side.exitCode()).isZero();
            }
        }
        var seconds = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
        System.out.printf("%,d operations over a bad network in %.1f s%n", OPERATIONS, seconds);
    }
}
