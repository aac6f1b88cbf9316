package org.jrdma.soft.roce.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A table of objects that peers identify by numbers of 24 bits. The low 16 bits of a number are an
 * index into the table. The high 8 bits are initially random and are incremented each time the
 * index is reused.
 */
final class NumberTable<T> {

    /** The result of {@link #claim} if all indices are in use. */
    static final int NONE = -1;

    private static final int INDEX_BITS = 16;

    /**
     * The number of values that the high bits can have. The value 0xff is excluded because 0xffffff
     * is the destination of multicast datagrams.
     */
    private static final int GENERATIONS = 0xff;

    private record Row<T>(int number, T object) {}

    private final RandomGenerator random;
    private final List<@Nullable Row<T>> rows = new ArrayList<>();

    /** The numbers for the next objects at the free indices, least recently freed first. */
    private final ArrayDeque<Integer> freeNumbers = new ArrayDeque<>();

    /**
     * @param firstIndex the lowest index that the table assigns
     */
    NumberTable(RandomGenerator random, int firstIndex) {
        this.random = random;
        for (var i = 0; i < firstIndex; i++) {
            rows.add(null);
        }
    }

    /**
     * Reserves a number, which {@link #put} then assigns to an object. Returns {@link #NONE} if all
     * indices are in use.
     */
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
     * Returns the number for the next object at the index of {@code number}. Each index cycles
     * through all values of the high bits before a number is reused, because packets for the old
     * number may still be in flight, and peers may still associate it with an old connection.
     */
    private static int successor(int number) {
        return ((number >>> INDEX_BITS) + 1) % GENERATIONS << INDEX_BITS | index(number);
    }

    private static int index(int number) {
        return number & (1 << INDEX_BITS) - 1;
    }
}
