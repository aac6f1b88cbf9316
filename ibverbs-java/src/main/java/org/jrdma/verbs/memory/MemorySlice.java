package org.jrdma.verbs.memory;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Objects;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * A part of a {@link MemoryRegion}, for use in work requests. Immutable. A slice becomes unusable
 * when its region is closed. In C: {@code struct ibv_sge}.
 */
public final class MemorySlice {

    private final MemoryRegion region;
    private final long offset;
    private final int length;

    MemorySlice(MemoryRegion region, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, region.length());
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("A slice must be shorter than 2 GiB: " + length);
        }
        this.region = region;
        this.offset = offset;
        this.length = (int) length;
    }

    /** The region that contains this slice. */
    public MemoryRegion region() {
        return region;
    }

    /** The length of the slice in bytes. */
    public int length() {
        return length;
    }

    /** The offset of the slice in its region, in bytes. */
    public long offset() {
        return offset;
    }

    /**
     * The memory of this slice, as a part of the {@linkplain MemoryRegion#segment() segment} of its
     * region.
     */
    public MemorySegment segment() {
        return region.segment().asSlice(offset, length);
    }

    /**
     * Returns a part of this slice.
     *
     * @throws IndexOutOfBoundsException if the part is not within this slice
     */
    public MemorySlice slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, this.length);
        return new MemorySlice(region, this.offset + offset, length);
    }

    /** The address, key and length that a peer needs to access this slice. */
    public RemoteMemory remote() {
        return region.remote().slice(offset, length);
    }

    /** Formats the slice for messages. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%,d bytes at %,d of %s", length, offset, region);
    }
}
