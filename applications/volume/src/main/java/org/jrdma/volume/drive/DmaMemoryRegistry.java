package org.jrdma.volume.drive;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jrdma.nvme.DmaMemory;
import org.jspecify.annotations.Nullable;

/** The memory of a drive that programs use for data. Safe for use by multiple threads. */
final class DmaMemoryRegistry {

    private final ConcurrentNavigableMap<Long, DmaMemory> byAddress = new ConcurrentSkipListMap<>();

    /** Adds memory, which remains allocated until the drive is closed. */
    void add(DmaMemory memory) {
        byAddress.put(memory.segment().address(), memory);
    }

    /** Returns the memory that contains a segment which commands can access, or null. */
    @Nullable DmaMemory find(MemorySegment data) {
        if (!data.isNative() || data.address() % Integer.BYTES != 0) {
            return null;
        }
        var entry = byAddress.floorEntry(data.address());
        return entry != null && contains(entry.getValue().segment(), data)
                ? entry.getValue()
                : null;
    }

    /** The scope distinguishes the memory from freed memory that had the same address. */
    private static boolean contains(MemorySegment memory, MemorySegment data) {
        return data.address() - memory.address() <= memory.byteSize() - data.byteSize()
                && memory.scope().equals(data.scope());
    }
}
