package org.jrdma.spark;

import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.RemoteMemory;

/** The registered output of a map task. {@link MapOutputs} owns it and guards its fields. */
final class MapOutput {

    private final MapOutputFile file;
    private final MemoryRegion region;
    private final boolean isPinned;

    /** The number of requests of other executors that may be reading this output. */
    int users;

    /** Whether the output is closed when its last user has finished. */
    boolean isForgotten;

    MapOutput(MapOutputFile file, MemoryRegion region, boolean isPinned) {
        this.file = file;
        this.region = region;
        this.isPinned = isPinned;
    }

    /** The length of the memory that is locked for this output. */
    long pinnedBytes() {
        return isPinned ? file.length() : 0;
    }

    boolean contains(BlockRange range) {
        return file.contains(range);
    }

    /** The memory of a range that this output {@linkplain #contains contains}. */
    RemoteMemory locate(BlockRange range) {
        var start = file.offset(range.from());
        return region.remote().slice(start, file.offset(range.to()) - start);
    }

    void close() {
        region.close();
    }
}
