package org.jrdma.ffi.linkage;

import java.util.AbstractCollection;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A queue in an array, for service threads that must continue after an OutOfMemoryError. If there
 * is no memory for a larger array, an addition fails and leaves the queue unchanged. A {@link
 * java.util.ArrayDeque} would lose all of its elements. The methods that add no element allocate
 * nothing, except {@link #iterator}.
 *
 * <p>Used by one thread at a time.
 */
public final class ArrayQueue<E> extends AbstractCollection<E> {

    private static final int FIRST_CAPACITY = 16;

    /** The elements; the capacity is a power of two. */
    private @Nullable Object[] ring = new @Nullable Object[FIRST_CAPACITY];

    private int head;
    private int size;

    /** Allocates memory for a number of elements. Up to this number, additions cannot fail. */
    public void reserve(int elements) {
        if (elements > ring.length) {
            var larger = new @Nullable Object[Integer.highestOneBit(elements - 1) * 2];
            for (var i = 0; i < size; i++) {
                larger[i] = get(i);
            }
            ring = larger;
            head = 0;
        }
    }

    /** Adds an element behind all others. */
    public void addLast(E element) {
        Objects.requireNonNull(element);
        reserve(size + 1);
        ring[index(size)] = element;
        size++;
    }

    /** Adds an element before all others. */
    public void addFirst(E element) {
        Objects.requireNonNull(element);
        reserve(size + 1);
        head = index(-1);
        ring[head] = element;
        size++;
    }

    @Override
    public boolean add(E element) {
        addLast(element);
        return true;
    }

    /** Returns the first element; null if the queue is empty. */
    public @Nullable E peekFirst() {
        return size == 0 ? null : get(0);
    }

    /** Removes and returns the first element; null if the queue is empty. */
    public @Nullable E pollFirst() {
        return size == 0 ? null : removeFirst();
    }

    /**
     * Returns the first element.
     *
     * @throws NoSuchElementException if the queue is empty
     */
    public E getFirst() {
        checkNotEmpty();
        return get(0);
    }

    /**
     * Returns the last element.
     *
     * @throws NoSuchElementException if the queue is empty
     */
    public E getLast() {
        checkNotEmpty();
        return get(size - 1);
    }

    /**
     * Removes and returns the first element.
     *
     * @throws NoSuchElementException if the queue is empty
     */
    public E removeFirst() {
        checkNotEmpty();
        var first = get(0);
        ring[head] = null;
        head = index(1);
        size--;
        return first;
    }

    private void checkNotEmpty() {
        if (size == 0) {
            throw new NoSuchElementException("The queue is empty");
        }
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public void clear() {
        Arrays.fill(ring, null);
        size = 0;
    }

    @Override
    public Iterator<E> iterator() {
        return new Iterator<>() {
            private int next;

            @Override
            public boolean hasNext() {
                return next < size;
            }

            @Override
            public E next() {
                if (next >= size) {
                    throw new NoSuchElementException();
                }
                return get(next++);
            }
        };
    }

    @Override
    public boolean remove(@Nullable Object element) {
        for (var i = 0; i < size; i++) {
            if (get(i).equals(element)) {
                removeAt(i);
                return true;
            }
        }
        return false;
    }

    /** Removes the elements that match a filter. If the filter throws, the others are kept. */
    @Override
    public boolean removeIf(Predicate<? super E> filter) {
        var before = size;
        var tested = 0;
        var kept = 0;
        try {
            for (; tested < before; tested++) {
                var element = get(tested);
                if (!filter.test(element)) {
                    ring[index(kept)] = element;
                    kept++;
                }
            }
        } finally {
            for (; tested < before; tested++) {
                ring[index(kept)] = ring[index(tested)];
                kept++;
            }
            for (var i = kept; i < before; i++) {
                ring[index(i)] = null;
            }
            size = kept;
        }
        return size < before;
    }

    private void removeAt(int position) {
        for (var i = position; i < size - 1; i++) {
            ring[index(i)] = ring[index(i + 1)];
        }
        size--;
        ring[index(size)] = null;
    }

    @SuppressWarnings("unchecked") // Only the methods that add elements fill the array.
    private E get(int position) {
        return (E) Objects.requireNonNull(ring[index(position)]);
    }

    private int index(int position) {
        return (head + position) & (ring.length - 1);
    }
}
