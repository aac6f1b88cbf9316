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
 * Maps native structures, such as {@code ibv_qp}, to the Java objects that implement them. C
 * callers have pointers to these structures. A header before each structure contains the number of
 * its object, so that an object can be found by the address of its structure. The native memory is
 * reused and never freed. Therefore a lookup with the pointer of a destroyed structure finds no
 * object, or an object that was created later, instead of reading unmapped memory. Safe for use by
 * multiple threads.
 */
public final class StructureRegistry {

    /**
     * The size of the header before each structure in bytes. It equals the alignment of the
     * allocation, so that the structure is aligned too.
     */
    private static final long HEADER_BYTES = 16;

    /** The number in the header of a structure that was released. */
    private static final int NO_OBJECT = 0;

    private static final Map<Long, ArrayDeque<MemorySegment>> FREE_MEMORY = new HashMap<>();
    private static final ArrayDeque<Integer> FREE_NUMBERS = new ArrayDeque<>();
    private static int numbers = 1;

    /**
     * The objects, indexed by their numbers. Modified only while holding the lock of this class,
     * but read without a lock. The array is replaced by a larger one when it is full.
     */
    private static volatile @Nullable Object[] objects = new @Nullable Object[256];

    private StructureRegistry() {}

    /** Allocates a structure for an object and fills it with zeros. */
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

    /**
     * Releases a structure: its memory and its number can be reused for other objects. If the
     * structure was already released, this method has no effect.
     */
    public static synchronized void release(MemorySegment structure) {
        var number = number(structure.address());
        if (number == NO_OBJECT) {
            return; // The structure was already released.
        }
        objects[number] = null;
        FREE_NUMBERS.addLast(number);
        UncheckedMemory.setLong(structure.address() - HEADER_BYTES, NO_OBJECT);
        FREE_MEMORY
                .get(structure.byteSize())
                .addLast(
                        CallerMemory.at(
                                structure.address() - HEADER_BYTES,
                                HEADER_BYTES + structure.byteSize()));
    }

    /**
     * Returns the object whose structure is at an address.
     *
     * @param address the address of a structure that {@link #allocate} has returned, or NULL
     * @throws ErrnoException with {@code EINVAL} if the structure was released, belongs to an
     *     object of another type, or the address is NULL
     */
    public static <T> T object(long address, Class<T> type) {
        var object = find(address);
        ErrnoException.throwIf(!type.isInstance(object), Errno.EINVAL);
        return type.cast(object);
    }

    /**
     * Returns the object whose structure is at an address, or null if the structure was released or
     * the address is NULL. Unlike {@link #object}, this method throws no exception, because it is
     * called on the hot path.
     */
    public static @Nullable Object find(long address) {
        return address == 0 ? null : objects[number(address)];
    }

    private static int number(long address) {
        return (int) UncheckedMemory.getLong(address - HEADER_BYTES);
    }
}
