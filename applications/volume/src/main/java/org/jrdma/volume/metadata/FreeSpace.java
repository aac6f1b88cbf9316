package org.jrdma.volume.metadata;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** The free blocks of a drive. */
public final class FreeSpace {

    private final TreeMap<Long, Long> lengths = new TreeMap<>();
    private long free;

    /** Consecutive blocks of a drive. */
    public record Range(long block, long blocks) {

        /** Returns the first block after this range. */
        public long end() {
            return block + blocks;
        }
    }

    /** Creates a map in which one range is free. */
    public FreeSpace(Range range) {
        if (range.blocks() > 0) {
            lengths.put(range.block(), range.blocks());
            free = range.blocks();
        }
    }

    /** Creates a copy. */
    public FreeSpace(FreeSpace other) {
        lengths.putAll(other.lengths);
        free = other.free;
    }

    /** Makes no block free. */
    public void clear() {
        lengths.clear();
        free = 0;
    }

    /** Returns the number of free blocks. */
    public long free() {
        return free;
    }

    /** Returns the free ranges in the order of their blocks. */
    public List<Range> ranges() {
        return lengths.entrySet().stream()
                .map(entry -> new Range(entry.getKey(), entry.getValue()))
                .toList();
    }

    /**
     * Takes free blocks: from one range if possible, otherwise from several.
     *
     * @param near the block at which the search starts
     * @return the blocks, fewer than requested if the drive is full
     */
    public List<Range> take(long blocks, long near) {
        var taken = new ArrayList<Range>();
        var missing = blocks;
        var whole = firstOfAtLeast(blocks, near);
        if (whole != null) {
            missing = 0;
            taken.add(cut(whole, blocks));
        }
        while (missing > 0 && !lengths.isEmpty()) {
            var entry = lengths.ceilingEntry(near);
            if (entry == null) {
                entry = lengths.firstEntry();
            }
            var range = cut(entry, Math.min(missing, entry.getValue()));
            missing -= range.blocks();
            taken.add(range);
        }
        return taken;
    }

    private Map.@org.jspecify.annotations.Nullable Entry<Long, Long> firstOfAtLeast(
            long blocks, long near) {
        for (var part : List.of(lengths.tailMap(near, true), lengths.headMap(near, false))) {
            for (var entry : part.entrySet()) {
                if (entry.getValue() >= blocks) {
                    return Map.entry(entry.getKey(), entry.getValue());
                }
            }
        }
        return null;
    }

    private Range cut(Map.Entry<Long, Long> entry, long blocks) {
        var range = new Range(entry.getKey(), blocks);
        var rest = entry.getValue() - blocks;
        lengths.remove(range.block());
        if (rest > 0) {
            lengths.put(range.end(), rest);
        }
        free -= blocks;
        return range;
    }

    /** Returns true if all blocks of a range are free. */
    public boolean isFree(Range range) {
        var entry = lengths.floorEntry(range.block());
        return entry != null && entry.getKey() + entry.getValue() >= range.end();
    }

    /**
     * Takes certain blocks.
     *
     * @throws VolumeException if one of them is not free; nothing is changed
     */
    public void take(Range range) throws VolumeException {
        if (!isFree(range)) {
            throw new VolumeException(
                    Failure.INVALID,
                    "%d blocks from drive block %d are not free"
                            .formatted(range.blocks(), range.block()));
        }
        var entry = lengths.floorEntry(range.block());
        var start = entry.getKey();
        var end = start + entry.getValue();
        lengths.remove(start);
        if (start < range.block()) {
            lengths.put(start, range.block() - start);
        }
        if (range.end() < end) {
            lengths.put(range.end(), end - range.end());
        }
        free -= range.blocks();
    }

    /**
     * Makes blocks free.
     *
     * @throws IllegalArgumentException if one of them is free already; nothing is changed
     */
    public void release(Range range) {
        var before = lengths.lowerEntry(range.end());
        if (before != null && before.getKey() + before.getValue() > range.block()) {
            throw new IllegalArgumentException(
                    "One of %d blocks from drive block %d is already free"
                            .formatted(range.blocks(), range.block()));
        }
        var start = range.block();
        var end = range.end();
        if (before != null && before.getKey() + before.getValue() == start) {
            start = before.getKey();
        }
        var after = lengths.remove(end);
        if (after != null) {
            end += after;
        }
        lengths.put(start, end - start);
        free += range.blocks();
    }
}
