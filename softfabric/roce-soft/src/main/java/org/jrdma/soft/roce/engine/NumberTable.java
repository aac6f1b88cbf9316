package org.jrdma.soft.roce.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What peers know by a number of 24 bits. The low ones are an index; the high ones are random at
 * first, and count what has had that index since.
 */
final class NumberTable<T> {

    /** Where no number is left. */
    static final int NONE = -1;

    private static final int INDEX_BITS = 16;

    /** How many numbers have the same index. 0xff is left out: 0xffffff is the number of groups. */
    private static final int GENERATIONS = 0xff;

    private record Row<T>(int number, T object) {}

    private final RandomGenerator random;
    private final List<@Nullable Row<T>> rows = new ArrayList<>();

    /** The numbers that those have next whose index is free. */
    private final ArrayDeque<Integer> freeNumbers = new ArrayDeque<>();

    /**
     * @param firstIndex those before it are given to nobody
     */
    NumberTable(RandomGenerator random, int firstIndex) {
        this.random = random;
        for (var i = 0; i < firstIndex; i++) {
            rows.add(null);
        }
    }

    /** A number to {@link #put} something under, and from then on its own. */
    int claim() {
        if (!freeNumbers.isEmpty()) {
            return freeNumbers.removeFirst();
        }
        var index = rows.size();
        if (index == 1 << INDEX_BITS) {
            return NONE;
        }
        rows.add(null);
        return random.nextInt(GENERATIONS) << INDEX_BITS | index;
    }

    void put(int number, T object) {
        rows.set(index(number), new Row<>(number, object));
    }

    @Nullable T find(int number) {
        var index = index(number);
        var row = index < rows.size() ? rows.get(index) : null;
        return row != null && row.number == number ? row.object : null;
    }

    void remove(int number) {
        rows.set(index(number), null);
        freeNumbers.addLast(successor(number));
    }

    /**
     * The number of what comes after something. It differs as long as can be, for packets that are
     * still under way, and for peers that take a number for that of a connection they know.
     */
    private static int successor(int number) {
        return ((number >>> INDEX_BITS) + 1) % GENERATIONS << INDEX_BITS | index(number);
    }

    private static int index(int number) {
        return number & (1 << INDEX_BITS) - 1;
    }
}
