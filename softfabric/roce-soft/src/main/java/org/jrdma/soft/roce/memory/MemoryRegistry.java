package org.jrdma.soft.roce.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The memory regions and memory windows of a device. Each access to registered memory on behalf of
 * a packet or a work request is checked here: the region must be registered, and its protection
 * domain, rights and bounds must permit the access. If the region is a memory-mapped file that was
 * truncated, the JVM throws an {@code InternalError} for the access. The methods of this class then
 * return false, as for an access that is not permitted.
 *
 * <p>Keys are random 32-bit numbers, and no two keys have the same upper 24 bits. The upper bits
 * alone are unique because the program chooses the lower 8 bits of a window's key. Any thread may
 * create and remove regions and windows. Lookups take no lock.
 */
public final class MemoryRegistry {

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(MemoryRegion[].class);
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /**
     * Marks the table slot of a region that was removed. A search continues after this marker,
     * whereas an empty slot would end the search.
     */
    private static final MemoryRegion DEREGISTERED =
            new MemoryRegion(new ProtectionDomain(), MemorySegment.NULL, 0, 0, 0);

    /** The number of low-order bits of a window's key that the program chooses. */
    private static final int OWNER_KEY_BITS = 8;

    private static final int OWNER_KEY_MASK = (1 << OWNER_KEY_BITS) - 1;

    private final RandomGenerator random;

    /**
     * The regions and views by key: a hash table with open addressing that is at most half full. It
     * is replaced when it grows.
     */
    private volatile @Nullable MemoryRegion[] table = new @Nullable MemoryRegion[64];

    /**
     * The number of slots in the table that are not empty, including those with the marker {@link
     * #DEREGISTERED}.
     */
    private int slotsUsed;

    /** The upper 24 bits of all keys in use. */
    private final Set<Integer> keyPrefixes = new HashSet<>();

    private final Set<MemoryWindow> windows = new LinkedHashSet<>();

    /**
     * Creates a registry without regions.
     *
     * @param random the random number generator for keys. Its numbers must be unpredictable,
     *     because a peer that guesses a key can access the memory
     */
    public MemoryRegistry(RandomGenerator random) {
        this.random = random;
    }

    /**
     * Registers native memory, which must remain valid until the region is deregistered. For {@link
     * MemorySegment#NULL}, a null memory region is created: writes to it are discarded, and reads
     * return 0.
     *
     * @param start the address of the first byte in work requests and in requests of peers
     * @param access a combination of {@link Access} bits
     */
    public synchronized MemoryRegion register(
            ProtectionDomain domain, MemorySegment memory, long start, int access) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("Only native memory can be registered.");
        }
        var region = new MemoryRegion(domain, memory, start, access, newKey());
        add(region);
        return region;
    }

    private void add(MemoryRegion region) {
        if (2 * (slotsUsed + 1) > table.length) {
            rebuild();
        }
        insert(table, region);
        slotsUsed++;
    }

    /**
     * Deregisters a region and unbinds the windows that are bound to it. Returns after all accesses
     * to the region have ended.
     */
    public void deregister(MemoryRegion region) {
        var views = new ArrayList<MemoryRegion>();
        synchronized (this) {
            region.deregistered = true;
            remove(region);
            keyPrefixes.remove(prefix(region.key()));
            if (region.windows > 0) {
                for (var window : windows) {
                    if (window.region == region) {
                        unbind(window, views);
                    }
                }
            }
        }
        // The lock is not held here, because MemoryRegion.close() waits for other threads.
        region.close();
        views.forEach(MemoryRegion::close);
    }

    /** Returns true if at least one memory window is bound to a region. */
    public synchronized boolean hasWindows(MemoryRegion region) {
        return region.windows > 0;
    }

    /** Creates a memory window that is not bound to a region. */
    public synchronized MemoryWindow newWindow(ProtectionDomain domain, MemoryWindow.Type type) {
        var window = new MemoryWindow(domain, type, newKey());
        windows.add(window);
        return window;
    }

    /**
     * Removes a memory window and unbinds it. Returns after all accesses through the window have
     * ended.
     */
    public void free(MemoryWindow window) {
        var views = new ArrayList<MemoryRegion>();
        synchronized (this) {
            if (!windows.remove(window)) {
                return;
            }
            keyPrefixes.remove(prefix(window.key));
            unbind(window, views);
        }
        views.forEach(MemoryRegion::close);
    }

    /** Unbinds all type 2 windows that a queue pair has bound. */
    public void unbindAll(AccessIdentity binder) {
        var views = new ArrayList<MemoryRegion>();
        synchronized (this) {
            for (var window : windows) {
                if (window.type == MemoryWindow.Type.TWO
                        && window.view != null
                        && window.view.isVisibleTo(binder)) {
                    unbind(window, views);
                }
            }
        }
        views.forEach(MemoryRegion::close);
    }

    /**
     * Unbinds a window if it is bound. Adds its view to {@code views}, which the caller must close
     * after it has released the lock.
     */
    private void unbind(MemoryWindow window, List<MemoryRegion> views) {
        if (window.view != null && window.region != null) {
            remove(window.view);
            views.add(window.view);
            window.region.windows--;
            window.view = null;
            window.region = null;
        }
    }

    /**
     * Binds a memory window as requested, or unbinds a type 1 window if the requested length is 0.
     *
     * @param binder the queue pair that executes the request
     * @return false if the binding is not permitted; the window is unchanged then
     */
    public boolean bind(AccessIdentity binder, BindRequest binding) {
        var window = binding.window();
        var region = binding.region();
        var access = binding.access();
        var length = binding.length();
        var views = new ArrayList<MemoryRegion>();
        synchronized (this) {
            if (!windows.contains(window)
                    || window.key != binding.key()
                    || window.domain != binder.domain()
                    || (access & ~(Access.REMOTE | Access.LOCAL_WRITE | Access.ZERO_BASED)) != 0
                    || !fitsType(window, access, length)
                    || (length != 0
                            && (region == null
                                    || !region.permitsWindow(
                                            window.domain, binding.address(), length, access)))) {
                return false;
            }
            unbind(window, views);
            window.key = (window.key & ~OWNER_KEY_MASK) | (binding.newKey() & OWNER_KEY_MASK);
            if (length != 0 && region != null) {
                var view = region.view(window, binder, binding.address(), length, access);
                add(view);
                window.view = view;
                window.region = region;
                region.windows++;
            }
        }
        views.forEach(MemoryRegion::close);
        return true;
    }

    /** Returns true if the type of a window permits a binding with the given rights and length. */
    private static boolean fitsType(MemoryWindow window, int access, long length) {
        return switch (window.type) {
            case ONE -> (access & Access.ZERO_BASED) == 0;
            case TWO -> !window.isBound() && length != 0;
        };
    }

    /**
     * Unbinds the type 2 window that has a key.
     *
     * @param caller the queue pair that executes the request
     * @return false if no type 2 window that this queue pair has bound has the key
     */
    public boolean invalidate(AccessIdentity caller, int key) {
        var views = new ArrayList<MemoryRegion>();
        synchronized (this) {
            var view = find(key);
            if (view == null
                    || view.window == null
                    || view.window.type != MemoryWindow.Type.TWO
                    || !view.isVisibleTo(caller)) {
                return false;
            }
            unbind(view.window, views);
        }
        views.forEach(MemoryRegion::close);
        return true;
    }

    private void remove(MemoryRegion region) {
        var slots = table;
        var mask = slots.length - 1;
        for (var i = region.key() & mask; slots[i] != null; i = i + 1 & mask) {
            if (slots[i] == region) {
                SLOT.setRelease(slots, i, DEREGISTERED);
                return;
            }
        }
    }

    private int newKey() {
        int key;
        do {
            key = random.nextInt();
        } while (prefix(key) == 0 || !keyPrefixes.add(prefix(key)));
        return key;
    }

    /** Returns the upper 24 bits of a key. */
    private static int prefix(int key) {
        return key >>> OWNER_KEY_BITS;
    }

    /**
     * Replaces the table by a new one without {@link #DEREGISTERED} markers, in which at most a
     * quarter of the slots are used.
     */
    private void rebuild() {
        var live = 0;
        for (var region : table) {
            live += region != null && region != DEREGISTERED ? 1 : 0;
        }
        var length = 64;
        while (length < 4 * (live + 1)) {
            length *= 2;
        }
        var next = new @Nullable MemoryRegion[length];
        for (var region : table) {
            if (region != null && region != DEREGISTERED) {
                insert(next, region);
            }
        }
        table = next;
        slotsUsed = live;
    }

    private static void insert(@Nullable MemoryRegion[] slots, MemoryRegion region) {
        var mask = slots.length - 1;
        var i = region.key() & mask;
        while (slots[i] != null) {
            i = i + 1 & mask;
        }
        SLOT.setRelease(slots, i, region);
    }

    /** Returns the region or view with a key, or null if the table does not contain the key. */
    private @Nullable MemoryRegion find(int key) {
        var slots = table;
        var mask = slots.length - 1;
        for (var i = key & mask; ; i = i + 1 & mask) {
            var region = (MemoryRegion) SLOT.getAcquire(slots, i);
            if (region == null || (region.key() == key && region != DEREGISTERED)) {
                return region;
            }
        }
    }

    /**
     * Finds the region or view with a key and starts an access to it. The caller ends the access
     * with {@link MemoryRegion#exit}. Returns null if the access is not permitted.
     */
    private @Nullable MemoryRegion enter(
            AccessIdentity caller, int key, long address, long length, int rights) {
        var region = find(key);
        return region != null && region.permits(caller, address, length, rights) && region.enter()
                ? region
                : null;
    }

    /**
     * Loads the pages of a memory range into memory by reading one byte in each page.
     *
     * @param page the page size in bytes
     * @return false if the access is not permitted
     */
    public boolean touch(ProtectionDomain domain, int key, long address, long length, long page) {
        var target = MemorySegment.ofArray(new byte[1]);
        for (var offset = 0L; offset < length; offset += page) {
            if (!read(domain, key, address + offset, Access.LOCAL_READ, target, 0, 1)) {
                return false;
            }
        }
        return true;
    }

    /** Returns true if an access would be permitted at the time of the call. */
    public boolean permits(AccessIdentity caller, int key, long address, long length, int rights) {
        var region = enter(caller, key, address, length, rights);
        if (region == null) {
            return false;
        }
        region.exit();
        return true;
    }

    /**
     * Copies bytes from registered memory to {@code target}.
     *
     * @return false if the access is not permitted; nothing was copied in this case, unless the
     *     memory is a mapped file that was truncated
     */
    public boolean read(
            AccessIdentity caller,
            int key,
            long address,
            int rights,
            MemorySegment target,
            long targetOffset,
            long length) {
        var region = enter(caller, key, address, length, rights);
        if (region == null) {
            return false;
        }
        try {
            region.read(address, target, targetOffset, length);
        } catch (InternalError truncated) {
            return false;
        } finally {
            region.exit();
        }
        return true;
    }

    /**
     * Copies bytes from {@code source} to registered memory.
     *
     * @return false if the access is not permitted; nothing was copied in this case, unless the
     *     memory is a mapped file that was truncated
     */
    public boolean write(
            AccessIdentity caller,
            int key,
            long address,
            int rights,
            MemorySegment source,
            long sourceOffset,
            long length) {
        var region = enter(caller, key, address, length, rights);
        if (region == null) {
            return false;
        }
        try {
            region.write(address, source, sourceOffset, length);
        } catch (InternalError truncated) {
            return false;
        } finally {
            region.exit();
        }
        return true;
    }

    /**
     * Returns true if the region or window with a key grants the caller all of the given rights at
     * the time of the call.
     */
    public boolean permitsAll(AccessIdentity caller, int key, int rights) {
        var region = find(key);
        return region != null && permits(caller, key, region.start(), 0, rights);
    }

    /**
     * Writes 8 bytes atomically: no observer sees a part of the new value.
     *
     * @return false if the access is not permitted or the address is not a multiple of 8; the
     *     memory is unchanged then
     */
    public boolean writeAtomically(
            AccessIdentity caller, int key, long address, MemorySegment source, long sourceOffset) {
        var region = enter(caller, key, address, Long.BYTES, Access.REMOTE_WRITE);
        if (region == null) {
            return false;
        }
        try {
            var memory = region.memory();
            var offset = region.offset(address);
            if ((memory.address() + offset & 7) != 0) {
                return false;
            }
            LONG.setRelease(
                    memory, offset, source.get(ValueLayout.JAVA_LONG_UNALIGNED, sourceOffset));
        } catch (InternalError truncated) {
            return false;
        } finally {
            region.exit();
        }
        return true;
    }

    /** An atomic operation on 8 bytes of memory. */
    public enum Atomic {
        COMPARE_AND_SWAP,
        FETCH_AND_ADD
    }

    /**
     * Executes an atomic operation and stores the previous value of the memory in {@code
     * result[0]}. The operation is also atomic with respect to accesses by the processors of this
     * machine.
     *
     * @return false if the access is not permitted or the address is not a multiple of 8; the
     *     memory is unchanged then
     */
    public boolean atomic(
            AccessIdentity caller,
            int key,
            long address,
            Atomic operation,
            long swapOrAdd,
            long compare,
            long[] result) {
        var region = enter(caller, key, address, Long.BYTES, Access.REMOTE_ATOMIC);
        if (region == null) {
            return false;
        }
        try {
            var memory = region.memory();
            var offset = region.offset(address);
            if ((memory.address() + offset & 7) != 0) {
                return false;
            }
            result[0] =
                    switch (operation) {
                        case COMPARE_AND_SWAP ->
                                (long) LONG.compareAndExchange(memory, offset, compare, swapOrAdd);
                        case FETCH_AND_ADD -> (long) LONG.getAndAdd(memory, offset, swapOrAdd);
                    };
        } catch (InternalError truncated) {
            return false;
        } finally {
            region.exit();
        }
        return true;
    }
}
