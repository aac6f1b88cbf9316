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
import org.jrdma.ffi.linkage.AddressSpace;
import org.jspecify.annotations.Nullable;

/**
 * The structures that C has pointers to, each with the object that stands behind it. The object's
 * number stands in front of the structure. The memory is used again and never given back, so that a
 * stale pointer finds no object instead of no memory.
 */
public final class Structures {

    /** In front of each structure; keeps its alignment. */
    private static final long HEADER_BYTES = 16;

    private static final int NO_OBJECT = 0;

    private static final Map<Long, ArrayDeque<MemorySegment>> FREE_MEMORY = new HashMap<>();
    private static final ArrayDeque<Integer> FREE_NUMBERS = new ArrayDeque<>();
    private static int numbers = 1;

    /** By number. Replaced when it grows; read without a lock by those who were given a number. */
    private static volatile @Nullable Object[] objects = new @Nullable Object[256];

    private Structures() {}

    /** A structure of zeros that {@code object} stands behind. */
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

    /** Takes a structure back. */
    public static synchronized void release(MemorySegment structure) {
        var number = number(structure.address());
        if (number == NO_OBJECT) {
            return; // another thread was first
        }
        objects[number] = null;
        FREE_NUMBERS.addLast(number);
        AddressSpace.setLong(structure.address() - HEADER_BYTES, NO_OBJECT);
        FREE_MEMORY
                .get(structure.byteSize())
                .addLast(
                        Memory.at(
                                structure.address() - HEADER_BYTES,
                                HEADER_BYTES + structure.byteSize()));
    }

    /**
     * What stands behind the structure at an address that {@link #allocate} once gave.
     *
     * @throws ErrnoException if it is gone, or something else
     */
    public static <T> T object(long address, Class<T> type) {
        var object = find(address);
        ErrnoException.throwIf(!type.isInstance(object), Errno.EINVAL);
        return type.cast(object);
    }

    /** The same for the hot path: null where it is gone. */
    public static @Nullable Object find(long address) {
        return address == 0 ? null : objects[number(address)];
    }

    private static int number(long address) {
        return (int) AddressSpace.getLong(address - HEADER_BYTES);
    }
}
