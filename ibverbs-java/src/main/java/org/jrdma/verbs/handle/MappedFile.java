package org.jrdma.verbs.handle;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.util.Objects;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.ArenaCloser;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mapped part of a file, which is the memory of a memory region. {@link NativeRegion} unmaps it
 * after it has deregistered the region.
 */
public final class MappedFile {

    private static final Logger LOG = LoggerFactory.getLogger(MappedFile.class);

    private final Arena arena;
    private final MemorySegment segment;

    private MappedFile(Arena arena, MemorySegment segment) {
        this.arena = arena;
        this.segment = segment;
    }

    /**
     * Maps a part of a file. In contrast to {@link FileChannel#map}, this method does not extend
     * the file.
     *
     * @throws IndexOutOfBoundsException if the part is not within the file
     */
    public static MappedFile map(FileChannel file, MapMode mode, long offset, long length)
            throws IOException {
        Objects.checkFromIndexSize(offset, length, file.size());
        var arena = Arena.ofShared();
        try {
            return new MappedFile(arena, file.map(mode, offset, length, arena));
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
    }

    /** Returns the mapped memory. */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Unmaps the memory, unless a device may still access it because the system failed to
     * deregister its region. Has no effect if the memory is already unmapped.
     */
    public void unmap() {
        if (!arena.scope().isAlive() || NativeRegion.isNeverFreed(this)) {
            return;
        }
        try {
            ArenaCloser.close(arena);
        } catch (FabricException e) {
            LOG.warn(
                    "A mapping of {} bytes stays until the process ends: {}",
                    segment.byteSize(),
                    e.getMessage());
        }
    }
}
