package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jrdma.sisci.internal.Constant;
import org.jspecify.annotations.Nullable;

/**
 * What a segment is to be. Immutable; each method gives another. In C: the flags of {@code
 * SCICreateSegment}.
 */
public final class SegmentOptions {

    private final int id;
    private final long bytes;
    private final Set<Constant> flags;
    private final @Nullable MemorySegment foreignMemory;

    private SegmentOptions(
            int id, long bytes, Set<Constant> flags, @Nullable MemorySegment foreignMemory) {
        this.id = id;
        this.bytes = bytes;
        this.flags = flags;
        this.foreignMemory = foreignMemory;
    }

    /**
     * A segment with memory of its own.
     *
     * @param id unique among all processes of the node; peers know it by this
     * @param bytes its size; drivers may want a multiple of the page size
     */
    public static SegmentOptions of(int id, long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("A segment has at least one byte: " + bytes);
        }
        return new SegmentOptions(id, bytes, EnumSet.noneOf(Constant.class), null);
    }

    /** One with the first free id from {@code from} on. */
    public static SegmentOptions withFreeId(int from, long bytes) {
        return of(from, bytes).with(Constant.SCI_FLAG_AUTO_ID);
    }

    /** A member of a multicast group, whose number is the segment's id. */
    public static SegmentOptions inGroup(int group, long bytes) {
        return of(group, bytes).with(Constant.SCI_FLAG_BROADCAST);
    }

    /**
     * A segment whose memory is the caller's, who answers for it: it must be native, begin at a
     * page and be whole pages, and stay allocated until the segment is closed, since peers may
     * write to it. Where peers are still connected when the patience of that close ends, which is
     * logged, they may write to it until the {@link Node} is closed, which puts them out. In C:
     * {@code SCIRegisterSegmentMemory}.
     */
    public static SegmentOptions onForeignMemory(int id, MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("Memory on the heap cannot be shared");
        }
        var empty = of(id, memory.byteSize()).empty();
        return new SegmentOptions(id, empty.bytes, empty.flags, memory);
    }

    /** One that no peer can ever connect to: cheaper, for this side of DMA. */
    public SegmentOptions forThisSideOnly() {
        return with(Constant.SCI_FLAG_PRIVATE);
    }

    /** A member of a group that peers can connect to alone as well. */
    public SegmentOptions alsoUnicast() {
        return with(Constant.SCI_FLAG_ALLOW_UNICAST);
    }

    /** One that peers can reach by DMA without a map. */
    public SegmentOptions forGlobalDma() {
        return with(Constant.SCI_FLAG_DMA_GLOBAL);
    }

    /** One without memory, until it is given some from outside of this process. */
    public SegmentOptions empty() {
        return with(Constant.SCI_FLAG_EMPTY);
    }

    private SegmentOptions with(Constant flag) {
        var more = EnumSet.copyOf(flags.isEmpty() ? EnumSet.of(flag) : flags);
        more.add(flag);
        return new SegmentOptions(id, bytes, more, foreignMemory);
    }

    int id() {
        return id;
    }

    long bytes() {
        return bytes;
    }

    Stream<Constant> flags() {
        return flags.stream();
    }

    /** Whether the library chooses the id. */
    boolean hasFreeId() {
        return flags.contains(Constant.SCI_FLAG_AUTO_ID);
    }

    /** The library refuses callbacks about what no peer can reach. */
    boolean hasPeers() {
        return !flags.contains(Constant.SCI_FLAG_PRIVATE);
    }

    Optional<MemorySegment> foreignMemory() {
        return Optional.ofNullable(foreignMemory);
    }
}
