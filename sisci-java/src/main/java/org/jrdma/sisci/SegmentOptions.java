package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.sisci.internal.SisciConstant;
import org.jspecify.annotations.Nullable;

/**
 * The options of a new segment. Immutable: each method returns a changed copy. In C: the flags of
 * {@code SCICreateSegment}.
 */
@CheckReturnValue
public final class SegmentOptions {

    private final int id;
    private final long bytes;
    private final Set<SisciConstant> flags;
    private final @Nullable MemorySegment foreignMemory;

    private SegmentOptions(
            int id, long bytes, Set<SisciConstant> flags, @Nullable MemorySegment foreignMemory) {
        this.id = id;
        this.bytes = bytes;
        this.flags = flags;
        this.foreignMemory = foreignMemory;
    }

    /**
     * Returns options for a segment whose memory the library allocates.
     *
     * @param id the id by which peers connect, unique among all processes of the node
     * @param bytes the size in bytes; drivers may require a multiple of the page size
     */
    public static SegmentOptions of(int id, long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException(
                    "Invalid segment size: " + bytes + ". A segment has at least one byte.");
        }
        return new SegmentOptions(id, bytes, EnumSet.noneOf(SisciConstant.class), null);
    }

    /**
     * Returns options for a segment whose id is the first free id at or above {@code from}. In C:
     * {@code SCI_FLAG_AUTO_ID}.
     */
    public static SegmentOptions withFreeId(int from, long bytes) {
        return of(from, bytes).with(SisciConstant.SCI_FLAG_AUTO_ID);
    }

    /**
     * Returns options for a segment in a multicast group. The id of the group is the id of the
     * segment. In C: {@code SCI_FLAG_BROADCAST}.
     */
    public static SegmentOptions inGroup(int group, long bytes) {
        return of(group, bytes).with(SisciConstant.SCI_FLAG_BROADCAST);
    }

    /**
     * Returns options for a segment in the caller's memory. In C: {@code SCIRegisterSegmentMemory}.
     *
     * <p>The caller is responsible for the memory. It must be native, start at a page boundary, and
     * consist of whole pages. It must stay allocated until the segment is closed, because peers may
     * write to it. If peers are still connected when the timeout of that close expires, a warning
     * is logged. These peers may write to the memory until the {@link Node} is closed, which
     * disconnects them.
     */
    public static SegmentOptions onForeignMemory(int id, MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "Cannot share memory on the heap. Allocate the segment in an Arena.");
        }
        var empty = of(id, memory.byteSize()).empty();
        return new SegmentOptions(id, empty.bytes, empty.flags, memory);
    }

    /**
     * Returns a copy of these options for a segment to which no peer can connect, such as the local
     * side of DMA transfers. In C: {@code SCI_FLAG_PRIVATE}.
     */
    public SegmentOptions asPrivate() {
        return with(SisciConstant.SCI_FLAG_PRIVATE);
    }

    /**
     * Returns a copy of these options that allows peers to connect to this member of a multicast
     * group alone. In C: {@code SCI_FLAG_ALLOW_UNICAST}.
     */
    public SegmentOptions allowUnicast() {
        return with(SisciConstant.SCI_FLAG_ALLOW_UNICAST);
    }

    /**
     * Returns a copy of these options that allows peers to access the segment by DMA without a map.
     * In C: {@code SCI_FLAG_DMA_GLOBAL}.
     */
    public SegmentOptions forGlobalDma() {
        return with(SisciConstant.SCI_FLAG_DMA_GLOBAL);
    }

    /**
     * Returns a copy of these options for a segment without memory. Memory is attached to the
     * segment later. In C: {@code SCI_FLAG_EMPTY}.
     */
    public SegmentOptions empty() {
        return with(SisciConstant.SCI_FLAG_EMPTY);
    }

    private SegmentOptions with(SisciConstant flag) {
        var newFlags = EnumSet.copyOf(flags.isEmpty() ? EnumSet.of(flag) : flags);
        newFlags.add(flag);
        return new SegmentOptions(id, bytes, newFlags, foreignMemory);
    }

    int id() {
        return id;
    }

    long bytes() {
        return bytes;
    }

    Stream<SisciConstant> flags() {
        return flags.stream();
    }

    /** Returns true if the library chooses the id of the segment. */
    boolean hasFreeId() {
        return flags.contains(SisciConstant.SCI_FLAG_AUTO_ID);
    }

    /**
     * Returns true if peers can connect to the segment. If they cannot, no callback may be
     * registered, because the library rejects a callback for a private segment.
     */
    boolean hasPeers() {
        return !flags.contains(SisciConstant.SCI_FLAG_PRIVATE);
    }

    Optional<MemorySegment> foreignMemory() {
        return Optional.ofNullable(foreignMemory);
    }
}
