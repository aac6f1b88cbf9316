package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.LongFunction;
import org.jrdma.soft.sisci.fabric.SciException;
import org.jspecify.annotations.Nullable;

/**
 * What C knows objects by. A handle is no address, and is never given out twice, so that a stale
 * one is refused. Safe for use by multiple threads.
 */
final class Handles {

    private static final long TAG = 0x51C1L << 48; // no address of a program
    private static final int INDEX_BITS = 20;
    private static final int MOST = 1 << INDEX_BITS;

    private record Slot(long handle, Object object) {}

    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private long given;
    private int used;

    /** Replaced when it grows; read without a lock. */
    private volatile @Nullable Slot[] slots = new @Nullable Slot[64];

    /** A handle for an object to come. */
    private synchronized long reserve() {
        throwIf(free.isEmpty() && used == MOST, SCI_ERR_API_NOSPC());
        var index = free.isEmpty() ? used++ : free.removeFirst();
        if (index == slots.length) {
            slots = Arrays.copyOf(slots, 2 * index);
        }
        given++;
        return TAG | (given << INDEX_BITS & ~TAG) | index;
    }

    /** Gives a reserved handle its object. */
    private synchronized void set(long handle, Object object) {
        slots[index(handle)] = new Slot(handle, object);
    }

    /** A handle for an object. */
    long add(Object object) {
        var handle = reserve();
        set(handle, object);
        return handle;
    }

    /**
     * Makes an object that must know its handle, and leaves that for the program.
     *
     * @param place where
     */
    <T> T make(long place, LongFunction<T> maker) {
        Memory.at(place, Long.BYTES);
        var handle = reserve();
        T made;
        try {
            made = maker.apply(handle);
            set(handle, made);
        } catch (RuntimeException e) {
            release(handle);
            throw e;
        }
        Memory.setLong(place, handle);
        return made;
    }

    /** Ends a handle. */
    synchronized void release(long handle) {
        slots[index(handle)] = null;
        free.addLast(index(handle));
    }

    synchronized void clear() {
        Arrays.fill(slots, null);
        free.clear();
        used = 0;
    }

    private static int index(long handle) {
        return (int) handle & (MOST - 1);
    }

    /** What a handle stands for. Allocates nothing. */
    <T> T object(long handle, Class<T> type) {
        var object = find(handle);
        if (!type.isInstance(object)) {
            throw new SciException(SCI_ERR_ILLEGAL_PARAMETER(), "The handle is stale, or wrong.");
        }
        return type.cast(object);
    }

    private @Nullable Object find(long handle) {
        var all = slots;
        var index = index(handle);
        if (index >= all.length) {
            return null;
        }
        var slot = all[index];
        return slot != null && slot.handle() == handle ? slot.object() : null;
    }
}
