package org.jrdma.volume.metadata;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** The extents of a file. File blocks without an extent are holes, which read as zeros. */
public final class ExtentMap {

    private final TreeMap<Long, FileExtent> byFileBlock = new TreeMap<>();

    /** Creates a map without extents. */
    public ExtentMap() {}

    /** Creates a copy. */
    public ExtentMap(ExtentMap other) {
        byFileBlock.putAll(other.byFileBlock);
    }

    /** Returns the extents in the order of their file blocks. */
    public Collection<FileExtent> extents() {
        return byFileBlock.values();
    }

    /** Returns the extent that contains a file block; empty for a hole. */
    public Optional<FileExtent> find(long fileBlock) {
        var entry = byFileBlock.floorEntry(fileBlock);
        return entry == null || entry.getValue().endFileBlock() <= fileBlock
                ? Optional.empty()
                : Optional.of(entry.getValue());
    }

    /**
     * Returns the first file block after a block in a hole that has an extent; {@code
     * Long.MAX_VALUE} if there is none.
     */
    public long endOfHole(long fileBlock) {
        var next = byFileBlock.ceilingKey(fileBlock);
        return next == null ? Long.MAX_VALUE : next;
    }

    /**
     * Adds an extent, which is joined with its neighbors if possible.
     *
     * @throws VolumeException if the file has extents at these file blocks; the map is unchanged
     */
    public void add(FileExtent extent) throws VolumeException {
        if (overlaps(extent)) {
            throw new VolumeException(
                    Failure.INVALID, "%s overlaps an extent of the file".formatted(extent));
        }
        var joined = extent;
        var before = byFileBlock.lowerEntry(extent.fileBlock());
        if (before != null && follows(before.getValue(), extent)) {
            joined = join(before.getValue(), joined);
        }
        var after = byFileBlock.get(extent.endFileBlock());
        if (after != null && follows(extent, after)) {
            byFileBlock.remove(after.fileBlock());
            joined = join(joined, after);
        }
        byFileBlock.put(joined.fileBlock(), joined);
    }

    /** Returns true if the file has an extent at one of the file blocks of another extent. */
    public boolean overlaps(FileExtent extent) {
        var before = byFileBlock.lowerEntry(extent.endFileBlock());
        return before != null && before.getValue().endFileBlock() > extent.fileBlock();
    }

    private static boolean follows(FileExtent first, FileExtent second) {
        return first.endFileBlock() == second.fileBlock()
                && first.endDriveBlock() == second.driveBlock();
    }

    private static FileExtent join(FileExtent first, FileExtent second) {
        return new FileExtent(
                first.fileBlock(), first.driveBlock(), first.blocks() + second.blocks());
    }

    /**
     * Removes all extents from a file block on.
     *
     * @return the removed extents
     */
    public List<FileExtent> truncate(long fileBlock) {
        var removed = new ArrayList<FileExtent>();
        var containing = find(fileBlock);
        if (containing.isPresent() && containing.get().fileBlock() < fileBlock) {
            var extent = containing.get();
            var kept = fileBlock - extent.fileBlock();
            byFileBlock.put(
                    extent.fileBlock(),
                    new FileExtent(extent.fileBlock(), extent.driveBlock(), kept));
            removed.add(
                    new FileExtent(fileBlock, extent.driveBlock() + kept, extent.blocks() - kept));
        }
        var tail = byFileBlock.tailMap(fileBlock, true);
        removed.addAll(tail.values());
        tail.clear();
        return removed;
    }

    /** Returns the first file block after the last extent. */
    public long end() {
        return byFileBlock.isEmpty() ? 0 : byFileBlock.lastEntry().getValue().endFileBlock();
    }

    /** Returns the number of blocks of all extents. */
    public long blocks() {
        return byFileBlock.values().stream().mapToLong(FileExtent::blocks).sum();
    }

    /** Returns the number of extents. */
    public int size() {
        return byFileBlock.size();
    }
}
