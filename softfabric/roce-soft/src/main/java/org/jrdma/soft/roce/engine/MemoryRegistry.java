package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The regions of a device. Every access of a packet to memory goes through here and is checked
 * against the region's liveness, protection domain, rights and bounds, each time. A mapped file
 * that was cut shorter, where the JVM throws an InternalError, is as not permitted.
 *
 * <p>Keys are random in all 32 bits. Regions come and go on any thread; look-ups take no lock.
 */
public final class MemoryRegistry {

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(MemoryRegion[].class);
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /** Stands where a region was, so that a search goes on behind it. */
    private static final MemoryRegion DEREGISTERED =
            new MemoryRegion(new ProtectionDomain(), MemorySegment.NULL, 0, 0, 0);

    private final RandomGenerator random;

    /** Open addressing, at most half full. Replaced when it grows. */
    private volatile @Nullable MemoryRegion[] table = new @Nullable MemoryRegion[64];

    private int slotsUsed;

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
        if (2 * (slotsUsed + 1) > table.length) {
            rebuild();
        }
        var region = new MemoryRegion(domain, memory, start, access, newKey());
        insert(table, region);
        slotsUsed++;
        return region;
    }

    /** Takes a region back. On return no access to it is in flight, nor will there be one. */
    public void deregister(MemoryRegion region) {
        remove(region);
        region.close(); // with no lock: it waits, and others come and go meanwhile
    }

    private synchronized void remove(MemoryRegion region) {
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
        } while (key == 0 || find(key) != null);
        return key;
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
            ProtectionDomain domain, int key, long address, long length, int rights) {
        var region = find(key);
        return region != null && region.permits(domain, address, length, rights) && region.enter()
                ? region
                : null;
    }

    /** Whether such an access would succeed now. */
    boolean permits(ProtectionDomain domain, int key, long address, long length, int rights) {
        var region = enter(domain, key, address, length, rights);
        if (region == null) {
            return false;
        }
        region.exit();
        return true;
    }

    /** Copies registered memory. False, and nothing copied, if that is not permitted. */
    boolean read(
            ProtectionDomain domain,
            int key,
            long address,
            int rights,
            MemorySegment target,
            long targetOffset,
            long length) {
        var region = enter(domain, key, address, length, rights);
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
    boolean write(
            ProtectionDomain domain,
            int key,
            long address,
            int rights,
            MemorySegment source,
            long sourceOffset,
            long length) {
        var region = enter(domain, key, address, length, rights);
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

    /** An atomic operation on eight bytes. */
    enum Atomic {
        COMPARE_AND_SWAP,
        FETCH_AND_ADD
    }

    /**
     * Carries out an atomic operation that {@link #permits} has allowed, and leaves what stood
     * there before in {@code result[0]}. Atomic towards the processor too. False, and nothing
     * changed, if it is not permitted after all or the memory is not aligned.
     */
    boolean atomic(
            ProtectionDomain domain,
            int key,
            long address,
            Atomic operation,
            long swapOrAdd,
            long compare,
            long[] result) {
        var region = enter(domain, key, address, Long.BYTES, Access.REMOTE_ATOMIC);
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
