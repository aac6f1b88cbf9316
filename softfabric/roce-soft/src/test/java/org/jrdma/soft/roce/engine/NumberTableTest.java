package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class NumberTableTest {

    private static final int COUNT = 4_096;

    /**
     * Each bit must be set in about half of the numbers, and consecutive numbers must differ in
     * each bit equally often. All 24 bits are then unpredictable.
     */
    @Test
    void shouldChooseAllBitsAtRandom() {
        var table = new NumberTable<String>(new SecureRandom(), COUNT);
        var set = new int[24];
        var changed = new int[24];
        var before = 0;
        for (var i = 0; i < COUNT; i++) {
            var number = table.choose();
            table.put(number, "");
            for (var bit = 0; bit < 24; bit++) {
                set[bit] += number >> bit & 1;
                changed[bit] += (number ^ before) >> bit & 1;
            }
            before = number;
        }
        for (var bit = 0; bit < 24; bit++) {
            // 10 standard deviations
            assertThat(set[bit]).as("bit %d", bit).isBetween(COUNT / 2 - 320, COUNT / 2 + 320);
            assertThat(changed[bit]).as("bit %d", bit).isBetween(COUNT / 2 - 320, COUNT / 2 + 320);
        }
    }

    /** A random generator that returns few different values, all of them near the limits. */
    private static RandomGenerator narrow() {
        var random = new Random(1);
        return new RandomGenerator() {
            @Override
            public long nextLong() {
                throw new UnsupportedOperationException();
            }

            @Override
            public int nextInt(int origin, int bound) {
                return random.nextBoolean()
                        ? origin + random.nextInt(3_000)
                        : bound - 1 - random.nextInt(3_000);
            }
        };
    }

    @Test
    void shouldChooseNoNumberThatIsInUseOrReservedByTheSpecification() {
        var table = new NumberTable<Integer>(narrow(), COUNT);
        var chosen = new HashSet<Integer>();
        for (var i = 0; i < COUNT; i++) {
            var number = table.choose();
            assertThat(chosen.add(number)).isTrue();
            assertThat(number).isGreaterThan(1).isLessThan(0xff_ffff);
            table.put(number, i);
        }
        assertThat(table.choose()).isEqualTo(NumberTable.NONE);
    }

    /** Packets for the old number may still be in flight. */
    @Test
    void shouldNotReuseANumberSoon() {
        var table = new NumberTable<String>(narrow(), COUNT);
        var recent = new ArrayList<Integer>();
        for (var i = 0; i < 20_000; i++) {
            var number = table.choose();
            var from = Math.max(0, recent.size() - 1_024);
            assertThat(recent.subList(from, recent.size())).doesNotContain(number);
            table.put(number, "");
            table.remove(number);
            recent.add(number);
        }
    }

    @Test
    void shouldFindExactlyTheObjectsThatWereNotRemoved() {
        var random = new Random(2);
        // Numbers with equal low bits collide in the table.
        var colliding =
                new RandomGenerator() {
                    @Override
                    public long nextLong() {
                        throw new UnsupportedOperationException();
                    }

                    @Override
                    public int nextInt(int origin, int bound) {
                        return origin + (random.nextInt(200) << 14) + random.nextInt(40);
                    }
                };
        var table = new NumberTable<Integer>(colliding, COUNT);
        var expected = new HashMap<Integer, Integer>();
        var used = new BitSet();
        for (var i = 0; i < 50_000; i++) {
            if (expected.size() < 1_000 && random.nextInt(3) > 0) {
                var number = table.choose();
                table.put(number, i);
                expected.put(number, i);
                used.set(number);
            } else if (!expected.isEmpty()) {
                var numbers = new ArrayList<>(expected.keySet());
                Collections.shuffle(numbers, random);
                var removed = numbers.getFirst();
                table.remove(removed);
                expected.remove(removed);
            }
        }
        used.stream()
                .forEach(number -> assertThat(table.find(number)).isEqualTo(expected.get(number)));
        assertThat(table.find(3)).isEqualTo(expected.get(3));
    }
}
