package org.jrdma.soft.roce.packet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

import org.junit.jupiter.api.Test;

/** Tests arithmetic with packet sequence numbers. */
class PacketSequenceTest {

    private static final int HALF = 1 << 23;

    @Test
    void shouldIncrementAndDecrementEveryNumberAcrossTheWrap() {
        for (var sequence = 0; sequence <= PacketSequence.MASK; sequence++) {
            var next = sequence == PacketSequence.MASK ? 0 : sequence + 1;
            if (plus(sequence, 1) != next || plus(next, -1) != sequence) {
                assertThat(plus(sequence, 1)).isEqualTo(next);
                assertThat(plus(next, -1)).isEqualTo(sequence);
            }
        }
    }

    @Test
    void shouldComputeEveryDistanceFromNumbersOnBothSidesOfTheWrap() {
        for (var from : new int[] {0, 1, HALF - 1, HALF, PacketSequence.MASK}) {
            for (var count = -HALF; count < HALF; count++) {
                if (distance(from, plus(from, count)) != count) {
                    assertThat(distance(from, plus(from, count))).isEqualTo(count);
                }
            }
        }
    }
}
