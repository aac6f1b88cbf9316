package org.jrdma.soft.roce.engine;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Assigns numbers of 24 bits to objects, by which peers identify them, and finds objects by their
 * numbers. All bits of a number are random, so that a host that does not take part in a connection
 * cannot guess the number of a queue pair.
 *
 * <p>The table is a hash table with open addressing: a number is its own hash value, because it is
 * random. A lookup allocates nothing.
 */
final class NumberTable<T> {

    /** The result of {@link #choose} if the table is full. */
    static final int NONE = -1;

    /** The lowest number: 0 and 1 are the numbers of management queue pairs. */
    private static final int FIRST = 2;

    /** The end of the numbers (exclusive): datagrams to multicast groups carry 0xffffff. */
    private static final int END = 0xff_ffff;

    /** The number of removed numbers that are not assigned again. */
    private static final int RESERVED = 1_024;

    private record Row<T>(int number, T object) {}

    private final RandomGenerator random;
    private final int maxObjects;

    /** The rows; at most half of the elements are in use. The length is a power of two. */
    private @Nullable Row<T>[] rows = newRows(16);

    private int size;

    /**
     * The numbers that were removed most recently, in a ring. Packets for such a number may still
     * be in flight, and peers may still associate it with an old connection.
     */
    private final int[] removed = new int[RESERVED];

    private int nextRemoved;

    /**
     * @param random the random generator for the numbers, which must be unpredictable to peers
     * @param maxObjects the maximum number of objects in the table
     */
    NumberTable(RandomGenerator random, int maxObjects) {
        this.random = random;
        this.maxObjects = maxObjects;
    }

    /**
     * Chooses a random number for {@link #put}: one that no object has and that was not removed
     * recently. Returns {@link #NONE} if the table is full.
     */
    int choose() {
        if (size == maxObjects) {
            return NONE;
        }
        int number;
        do {
            number = random.nextInt(FIRST, END);
        } while (find(number) != null || wasRemoved(number));
        return number;
    }

    private boolean wasRemoved(int number) {
        for (var other : removed) {
            if (other == number) {
                return true;
            }
        }
        return false;
    }

    int size() {
        return size;
    }

    /** Adds an object with a number that {@link #choose} has returned. */
    void put(int number, T object) {
        var row = new Row<>(number, object);
        if (2 * (size + 1) > rows.length) {
            grow();
        }
        rows[slot(number)] = row;
        size++;
    }

    @Nullable T find(int number) {
        var row = rows[slot(number)];
        return row == null ? null : row.object;
    }

    void remove(int number) {
        var free = slot(number);
        if (rows[free] == null) {
            return;
        }
        rows[free] = null;
        size--;
        removed[nextRemoved] = number;
        nextRemoved = (nextRemoved + 1) % RESERVED;
        // The removed row must not interrupt the search for other rows: a row is moved to the free
        // place if the search for it would otherwise end there.
        var mask = rows.length - 1;
        for (var i = free + 1 & mask; rows[i] != null; i = i + 1 & mask) {
            if ((i - home(rows[i].number) & mask) >= (i - free & mask)) {
                rows[free] = rows[i];
                rows[i] = null;
                free = i;
            }
        }
    }

    /**
     * Returns the index of the row with a number, or of the free row at which the search for the
     * number ends.
     */
    private int slot(int number) {
        var mask = rows.length - 1;
        var i = home(number);
        for (var row = rows[i]; row != null && row.number != number; row = rows[i]) {
            i = i + 1 & mask;
        }
        return i;
    }

    private int home(int number) {
        return number & rows.length - 1;
    }

    private void grow() {
        var before = rows;
        rows = newRows(2 * before.length);
        for (var row : before) {
            if (row != null) {
                rows[slot(row.number)] = row;
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> @Nullable Row<T>[] newRows(int length) {
        return (@Nullable Row<T>[]) new Row<?>[length];
    }
}
