package org.jrdma.soft.roce.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jspecify.annotations.Nullable;

/**
 * The structures that C has pointers to, each with the Java object that implements it. A header
 * before the structure contains the index of the object. The memory is reused and never freed, so
 * that a lookup by a stale pointer finds no object instead of accessing unmapped memory.
 */
public final class Structures {

    /** The size of the header before each structure, which keeps its alignment. */
    private static final long HEADER_BYTES = 16;

    private static final int NO_OBJECT = 0;

    private static final Map<Long, ArrayDeque<MemorySegment>> FREE_MEMORY = new HashMap<>();
    private static final ArrayDeque<Integer> FREE_NUMBERS = new ArrayDeque<>();
    private static int numbers = 1;

    /** The objects by number. The array is replaced when it grows, and is read without a lock. */
    private static volatile @Nullable Object[] objects = new @Nullable Object[256];

    private Structures() {}

    /** Allocates a structure of zeros for an object. */
    public static synchronized MemorySegment allocate(GroupLayout layout, Object object) {
        var bytes = layout.byteSize();
        var free = FREE_MEMORY.computeIfAbsent(bytes, size -> new ArrayDeque<>());
        var memory =
                free.isEmpty()
                        ? Arena.global().allocate(HEADER_BYTES + bytes, HEADER_BYTES)
                        : free.removeLast().fill((byte) 0);
        var number = FREE_NUMBERS.isEmpty() ? numbers++ : FREE_NUMBERS.removeFirst();
        if (number == objects.length) {
            objects = Arrays.copyOf(objects, 2 * number);
        }
        objects[number] = object;
        memory.set(ValueLayout.JAVA_LONG, 0, number);
        return memory.asSlice(HEADER_BYTES, bytes);
    }

    /** Releases a structure. */
    public static synchronized void release(MemorySegment structure) {
        var number = number(structure.address());
        if (number == NO_OBJECT) {
            return; // another thread has released it
        }
        objects[number] = null;
        FREE_NUMBERS.addLast(number);
        UncheckedMemory.setLong(structure.address() - HEADER_BYTES, NO_OBJECT);
        FREE_MEMORY
                .get(structure.byteSize())
                .addLast(
                        Memory.at(
                                structure.address() - HEADER_BYTES,
                                HEADER_BYTES + structure.byteSize()));
    }

    /**
     * Returns the object of the structure at an address that {@link #allocate} has returned.
     *
     * @throws ErrnoException if the structure was released, or belongs to an object of another type
     */
    public static <T> T object(long address, Class<T> type) {
        var object = find(address);
        ErrnoException.throwIf(!type.isInstance(object), Errno.EINVAL);
        return type.cast(object);
    }

    /** Returns the object of a structure, or null if it was released. For the hot path. */
    public static @Nullable Object find(long address) {
        return address == 0 ? null : objects[number(address)];
    }

    private static int number(long address) {
        return (int) UncheckedMemory.getLong(address - HEADER_BYTES);
    }
}
