package org.jrdma.verbs.memory;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Objects;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * A part of a {@link MemoryRegion}, as a work request names it. Immutable; it keeps nothing open.
 * In C: {@code struct ibv_sge}.
 */
public final class MemorySlice {

    private final MemoryRegion region;
    private final long offset;
    private final int length;

    MemorySlice(MemoryRegion region, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, region.length());
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("A work request moves 2 GiB at most: " + length);
        }
        this.region = region;
        this.offset = offset;
        this.length = (int) length;
    }

    /** The region it is a part of. */
    public MemoryRegion region() {
        return region;
    }

    /** Its length in bytes. */
    public int length() {
        return length;
    }

    /** Where in the region it begins. */
    public long offset() {
        return offset;
    }

    /** The memory itself. */
    public MemorySegment segment() {
        return region.segment().asSlice(offset, length);
    }

    /**
     * A part of this part.
     *
     * @throws IndexOutOfBoundsException if it is not within
     */
    public MemorySlice slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, this.length);
        return new MemorySlice(region, this.offset + offset, length);
    }

    /** What a peer needs to know to reach it. */
    public RemoteMemory remote() {
        return region.remote().slice(offset, length);
    }

    /** As in a message. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%,d bytes at %,d of %s", length, offset, region);
    }
}
