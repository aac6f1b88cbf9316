package org.jrdma.soft.roce.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A table of objects that peers know by numbers of 24 bits. The low bits are an index. The high
 * bits are initially random and are incremented each time that an index is reused.
 */
final class NumberTable<T> {

    /** Returned by {@link #claim} if all numbers are in use. */
    static final int NONE = -1;

    private static final int INDEX_BITS = 16;

    /**
     * The number of values of the high bits. 0xff is excluded because 0xffffff is the multicast
     * number.
     */
    private static final int GENERATIONS = 0xff;

    private record Row<T>(int number, T object) {}

    private final RandomGenerator random;
    private final List<@Nullable Row<T>> rows = new ArrayList<>();

    /** The next numbers of the free indices. */
    private final ArrayDeque<Integer> freeNumbers = new ArrayDeque<>();

    /**
     * @param firstIndex the lowest index to assign
     */
    NumberTable(RandomGenerator random, int firstIndex) {
        this.random = random;
        for (var i = 0; i < firstIndex; i++) {
            rows.add(null);
        }
    }

    /** Reserves a number, for use with {@link #put}. Returns {@link #NONE} if all are in use. */
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
     * The number for the next object at an index. Values repeat as late as possible, because
     * packets for the old number may still be in flight and peers may still associate it with an
     * old connection.
     */
    private static int successor(int number) {
        return ((number >>> INDEX_BITS) + 1) % GENERATIONS << INDEX_BITS | index(number);
    }

    private static int index(int number) {
        return number & (1 << INDEX_BITS) - 1;
    }
}
