package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.LongFunction;
import org.jrdma.soft.sisci.fabric.SciException;
import org.jspecify.annotations.Nullable;

/**
 * The table of the objects that a program refers to by handles. A handle is not an address and is
 * never reused, so that stale handles are rejected. Safe for use by multiple threads.
 */
final class Handles {

    // This offset makes each handle an invalid address.
    private static final long TAG = 0x51C1L << 48;
    private static final int INDEX_BITS = 20;
    private static final int MAX_HANDLES = 1 << INDEX_BITS;

    /** A table slot: a handle, and its object as soon as the object exists. */
    private static final class Slot {
        final long handle;
        volatile @Nullable Object object;

        Slot(long handle) {
            this.handle = handle;
        }
    }

    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private long handleCount;
    private int used;

    /** The objects by index. The array is replaced when it grows, and is read without a lock. */
    private volatile @Nullable Slot[] slots = new @Nullable Slot[64];

    /** Allocates a handle for an object that does not exist yet. */
    private synchronized long reserve() {
        throwIf(free.isEmpty() && used == MAX_HANDLES, SCI_ERR_API_NOSPC());
        int index = free.isEmpty() ? used : free.getFirst();
        if (index == slots.length) {
            slots = Arrays.copyOf(slots, 2 * index);
        }
        handleCount++;
        var handle = TAG | (handleCount << INDEX_BITS & ~TAG) | index;
        slots[index] = new Slot(handle);
        if (free.isEmpty()) {
            used++;
        } else {
            free.removeFirst();
        }
        return handle;
    }

    /**
     * Stores the object of a handle that {@link #reserve} has returned. Allocates no memory,
     * because an object that exists needs its handle.
     */
    private synchronized void set(long handle, Object object) {
        var slot = slots[index(handle)];
        if (slot != null) { // Otherwise the library was terminated in the meantime.
            slot.object = object;
        }
    }

    long add(Object object) {
        var handle = reserve();
        set(handle, object);
        return handle;
    }

    /**
     * Creates an object with a factory that receives the handle of the object, and stores the
     * handle in the memory of the program.
     *
     * @param place the address at which the handle is stored
     */
    <T> T create(long place, LongFunction<T> factory) {
        ProgramMemory.at(place, Long.BYTES);
        var handle = reserve();
        T created;
        try {
            created = factory.apply(handle);
            set(handle, created);
        } catch (Throwable e) {
            release(handle);
            throw e;
        }
        ProgramMemory.setLong(place, handle);
        return created;
    }

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
        return (int) handle & (MAX_HANDLES - 1);
    }

    /**
     * Returns the object that a handle refers to. Allocates no memory unless the handle is invalid.
     */
    <T> T object(long handle, Class<T> type) {
        var object = find(handle);
        if (!type.isInstance(object)) {
            throw new SciException(SCI_ERR_ILLEGAL_PARAMETER(), "The handle is stale or invalid.");
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
        return slot != null && slot.handle == handle ? slot.object : null;
    }
}
