package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class AccessOrderTest {

    private static LongStream positions(AccessOrder.Pattern pattern, int count) {
        var order = new AccessOrder(pattern, 1024, 4096, 3 * 1024 + 1023);
        return LongStream.generate(order::nextPosition).limit(count);
    }

    @Test
    void shouldRepeatTheRangeSequentially() {
        assertThat(positions(AccessOrder.Pattern.SEQUENTIAL, 5))
                .containsExactly(4096L, 5120L, 6144L, 4096L, 5120L);
    }

    @Test
    void shouldAccessAllOfTheRangeRandomlyAndNothingElse() {
        assertThat(positions(AccessOrder.Pattern.RANDOM, 100).distinct())
                .containsExactlyInAnyOrder(4096L, 5120L, 6144L);
    }

    @Test
    void shouldRepeatTheSameRandomOrder() {
        assertThat(positions(AccessOrder.Pattern.RANDOM, 20))
                .containsExactlyElementsOf(
                        positions(AccessOrder.Pattern.RANDOM, 20).boxed().toList());
    }
}
