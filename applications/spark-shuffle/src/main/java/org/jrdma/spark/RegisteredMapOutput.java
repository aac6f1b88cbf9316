package org.jrdma.spark;

import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * The registered output of a map task. {@link RegisteredMapOutputTable} owns it and guards its
 * fields.
 */
final class RegisteredMapOutput {

    private final MapOutputIndex.Key key;
    private final MapOutputIndex index;
    private final MemoryRegion region;
    private final boolean isPinned;

    /** The number of requests of other executors that may be reading this output. */
    int users;

    /** Whether the output is closed when its last user has finished. */
    boolean isForgotten;

    RegisteredMapOutput(
            MapOutputIndex.Key key, MapOutputIndex index, MemoryRegion region, boolean isPinned) {
        this.key = key;
        this.index = index;
        this.region = region;
        this.isPinned = isPinned;
    }

    MapOutputIndex.Key key() {
        return key;
    }

    /** The length of the memory that is locked for this output. */
    long pinnedBytes() {
        return isPinned ? index.dataLength() : 0;
    }

    boolean contains(PartitionRange range) {
        return index.contains(range);
    }

    /** The memory of a range that this output {@linkplain #contains contains}. */
    RemoteMemory locate(PartitionRange range) {
        var start = index.offset(range.from());
        return region.remote().slice(start, index.offset(range.to()) - start);
    }

    void close() {
        region.close();
    }
}
