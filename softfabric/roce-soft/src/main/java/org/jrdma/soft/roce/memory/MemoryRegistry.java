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
 * The regions and windows of a device. Every access of a packet to memory goes through here and is
 * checked against the region's liveness, protection domain, rights and bounds, each time. A mapped
 * file that was cut shorter, where the JVM throws an InternalError, is as not permitted.
 *
 * <p>Keys are random in all 32 bits. No two share the upper 24, for the rest of a window's is its
 * owner's to choose. Regions and windows come and go on any thread; look-ups take no lock.
 */
public final class MemoryRegistry {

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(MemoryRegion[].class);
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /** Stands where a region was, so that a search goes on behind it. */
    private static final MemoryRegion DEREGISTERED =
            new MemoryRegion(new ProtectionDomain(), MemorySegment.NULL, 0, 0, 0);

    /** The bits of a window's key that its owner chooses. */
    private static final int OWNERS_BIT_COUNT = 8;

    private static final int OWNERS_BITS = (1 << OWNERS_BIT_COUNT) - 1;

    private final RandomGenerator random;

    /** Open addressing, at most half full. Replaced when it grows. */
    private volatile @Nullable MemoryRegion[] table = new @Nullable MemoryRegion[64];

    private int slotsUsed;

    /** The upper 24 bits of the keys in use. */
    private final Set<Integer> keyPrefixes = new HashSet<>();

    private final Set<MemoryWindow> windows = new LinkedHashSet<>();

    /**
     * @param random where keys come from; peers should be unable to guess it
     */
    public MemoryRegistry(RandomGenerator random) {
        this.random = random;
    }

    /**
     * Lets packets touch {@code memory}, which is native and stays valid until it is deregistered.
     * With {@link MemorySegment#NULL}, what is written is dropped and what is read is 0.
     *
     * @param start the address by which work requests and peers name its first byte
     */
    public synchronized MemoryRegion register(
            ProtectionDomain domain, MemorySegment memory, long start, int access) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("not native memory");
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
     * Takes a region back, and unbinds the windows on it. On return no access to it is in flight,
     * nor will there be one.
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
        region.close(); // with no lock: it waits, and others come and go meanwhile
        views.forEach(MemoryRegion::close);
    }

    /** Whether windows are bound to a region. */
    public synchronized boolean hasWindows(MemoryRegion region) {
        return region.windows > 0;
    }

    /** Makes a window that is not bound. */
    public synchronized MemoryWindow newWindow(ProtectionDomain domain, MemoryWindow.Type type) {
        var window = new MemoryWindow(domain, type, newKey());
        windows.add(window);
        return window;
    }

    /** Takes a window back. On return no access through it is in flight, nor will there be one. */
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

    /** Unbinds the windows of the second type that a queue pair has bound. */
    public void unbindAll(MemoryAccessor binder) {
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

    /** Leaves what is to be closed, with no lock, in {@code views}. */
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
     * @return false, and nothing changed, if that is not permitted
     */
    public boolean bind(MemoryAccessor binder, WindowBinding wanted) {
        var window = wanted.window();
        var region = wanted.region();
        var access = wanted.access();
        var length = wanted.length();
        var views = new ArrayList<MemoryRegion>();
        synchronized (this) {
            if (!windows.contains(window)
                    || window.key != wanted.key()
                    || window.domain != binder.domain()
                    || (access & ~(Access.REMOTE | Access.LOCAL_WRITE | Access.ZERO_BASED)) != 0
                    || !fitsType(window, access, length)
                    || (length != 0
                            && (region == null
                                    || !region.permitsWindow(
                                            window.domain, wanted.address(), length, access)))) {
                return false;
            }
            unbind(window, views);
            window.key = (window.key & ~OWNERS_BITS) | (wanted.newKey() & OWNERS_BITS);
            if (length != 0 && region != null) {
                var view = region.view(window, binder, wanted.address(), length, access);
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
     * Unbinds the window of the second type that has a key.
     *
     * @return false if there is none, or it is another's
     */
    public boolean invalidate(MemoryAccessor caller, int key) {
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
        return key >>> OWNERS_BIT_COUNT;
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

    /** The region, entered, if it permits this; else null. */
    private @Nullable MemoryRegion enter(
            MemoryAccessor caller, int key, long address, long length, int rights) {
        var region = find(key);
        return region != null && region.permits(caller, address, length, rights) && region.enter()
                ? region
                : null;
    }

    /** Whether this side may access its memory so now. */
    public boolean permits(
            ProtectionDomain domain, int key, long address, long length, int rights) {
        return permits((MemoryAccessor) domain, key, address, length, rights);
    }

    /**
     * Brings pages in, by a look at each.
     *
     * @return false if that is not permitted
     */
    public boolean touch(ProtectionDomain domain, int key, long address, long length, long page) {
        var seen = MemorySegment.ofArray(new byte[1]);
        for (var at = 0L; at < length; at += page) {
            if (!read(domain, key, address + at, Access.LOCAL_READ, seen, 0, 1)) {
                return false;
            }
        }
        return true;
    }

    /** Whether such an access would succeed now. */
    public boolean permits(MemoryAccessor caller, int key, long address, long length, int rights) {
        var region = enter(caller, key, address, length, rights);
        if (region == null) {
            return false;
        }
        region.exit();
        return true;
    }

    /** Copies registered memory. False, and nothing copied, if that is not permitted. */
    public boolean read(
            MemoryAccessor caller,
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
        } catch (InternalError gone) {
            return false;
        } finally {
            region.exit();
        }
        return true;
    }

    /** Copies to registered memory. False, and nothing copied, if that is not permitted. */
    public boolean write(
            MemoryAccessor caller,
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
        } catch (InternalError gone) {
            return false;
        } finally {
            region.exit();
        }
        return true;
    }

    /** Whether an access of this kind to all of what has the key would succeed now. */
    public boolean permitsAll(MemoryAccessor caller, int key, int rights) {
        var region = find(key);
        return region != null && permits(caller, key, region.start(), 0, rights);
    }

    /**
     * Writes eight bytes, of which nobody sees a part. False, and nothing written, if that is not
     * permitted or the memory is not aligned.
     */
    public boolean writeAtomically(
            MemoryAccessor caller, int key, long address, MemorySegment source, long sourceOffset) {
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
        } catch (InternalError gone) {
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
     * Carries out an atomic operation that {@link #permits} has allowed, and leaves what stood
     * there before in {@code result[0]}. Atomic towards the processor too. False, and nothing
     * changed, if it is not permitted after all or the memory is not aligned.
     */
    public boolean atomic(
            MemoryAccessor caller,
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
        } catch (InternalError gone) {
            return false;
        } finally {
            region.exit();
        }
        return true;
    }
}
