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
 * The memory regions and windows of a device. Each access of a packet to memory is checked here:
 * the region must be registered, and its protection domain, rights and bounds must permit the
 * access. An access to a truncated memory-mapped file, for which the JVM throws an InternalError,
 * is not permitted either.
 *
 * <p>Keys are random in all 32 bits and unique in the upper 24, because the owner of a window
 * chooses the lower 8. Any thread may create and remove regions and windows. Lookups take no lock.
 */
public final class MemoryRegistry {

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(MemoryRegion[].class);
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /** Marks the slot of a removed region, so that a search continues after it. */
    private static final MemoryRegion DEREGISTERED =
            new MemoryRegion(new ProtectionDomain(), MemorySegment.NULL, 0, 0, 0);

    /** The number of bits of a window's key that its owner chooses. */
    private static final int OWNER_KEY_BITS = 8;

    private static final int OWNER_KEY_MASK = (1 << OWNER_KEY_BITS) - 1;

    private final RandomGenerator random;

    /** A hash table with open addressing, at most half full. Replaced when it grows. */
    private volatile @Nullable MemoryRegion[] table = new @Nullable MemoryRegion[64];

    private int slotsUsed;

    /** The upper 24 bits of the keys in use. */
    private final Set<Integer> keyPrefixes = new HashSet<>();

    private final Set<MemoryWindow> windows = new LinkedHashSet<>();

    /**
     * @param random the source of keys, which must be unpredictable to peers
     */
    public MemoryRegistry(RandomGenerator random) {
        this.random = random;
    }

    /**
     * Registers native memory, which must remain valid until the region is deregistered. With
     * {@link MemorySegment#NULL}, writes are dropped and reads return 0.
     *
     * @param start the address of the first byte, as work requests and peers name it
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
     * Deregisters a region and unbinds its windows. Waits until no access to the region is in
     * flight.
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
        region.close(); // without the lock, because it waits
        views.forEach(MemoryRegion::close);
    }

    /** Whether windows are bound to a region. */
    public synchronized boolean hasWindows(MemoryRegion region) {
        return region.windows > 0;
    }

    /** Creates an unbound window. */
    public synchronized MemoryWindow newWindow(ProtectionDomain domain, MemoryWindow.Type type) {
        var window = new MemoryWindow(domain, type, newKey());
        windows.add(window);
        return window;
    }

    /** Removes a window. Waits until no access through the window is in flight. */
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

    /** Unbinds the type 2 windows that a queue pair has bound. */
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
     * Unbinds a window and adds its view to {@code views}, which the caller closes without the
     * lock.
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
     * Binds a window, or unbinds a type 1 window if the length is 0.
     *
     * @return false, with nothing changed, if the binding is not permitted
     */
    public boolean bind(AccessIdentity binder, WindowBinding binding) {
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

    private static boolean fitsType(MemoryWindow window, int access, long length) {
        return switch (window.type) {
            case ONE -> (access & Access.ZERO_BASED) == 0;
            case TWO -> !window.isBound() && length != 0;
        };
    }

    /**
     * Unbinds the type 2 window with a key.
     *
     * @return false if there is none, or another queue pair has bound it
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

    private static int prefix(int key) {
        return key >>> OWNER_KEY_BITS;
    }

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

    /** Finds a region and begins an access. Returns null if the access is not permitted. */
    private @Nullable MemoryRegion enter(
            AccessIdentity caller, int key, long address, long length, int rights) {
        var region = find(key);
        return region != null && region.permits(caller, address, length, rights) && region.enter()
                ? region
                : null;
    }

    /**
     * Loads the pages of a memory range by reading a byte of each.
     *
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

    /** Returns true if an access would be permitted now. */
    public boolean permits(AccessIdentity caller, int key, long address, long length, int rights) {
        var region = enter(caller, key, address, length, rights);
        if (region == null) {
            return false;
        }
        region.exit();
        return true;
    }

    /**
     * Copies from registered memory. Returns false, with nothing copied, if the access is not
     * permitted.
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
     * Copies to registered memory. Returns false, with nothing copied, if the access is not
     * permitted.
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
     * Returns true if {@code rights} on the whole region or window with a key would be permitted
     * now.
     */
    public boolean permitsAll(AccessIdentity caller, int key, int rights) {
        var region = find(key);
        return region != null && permits(caller, key, region.start(), 0, rights);
    }

    /**
     * Writes eight bytes atomically. Returns false, with nothing written, if the access is not
     * permitted or the memory is not aligned.
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

    /** An atomic operation on eight bytes. */
    public enum Atomic {
        COMPARE_AND_SWAP,
        FETCH_AND_ADD
    }

    /**
     * Executes an atomic operation, and stores the previous value in {@code result[0]}. The
     * operation is also atomic with respect to processors. Returns false, with nothing changed, if
     * the access is not permitted or the memory is not aligned.
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
