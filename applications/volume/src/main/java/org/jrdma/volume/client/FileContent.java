package org.jrdma.volume.client;

import static org.jrdma.volume.drive.Drive.BLOCK_BYTES;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.metadata.Attributes;
import org.jrdma.volume.metadata.ExtentMap;
import org.jrdma.volume.metadata.FileExtent;
import org.jrdma.volume.metadata.FreeSpace;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.metadata.Namespace;
import org.jrdma.volume.model.VolumeException;

/**
 * The content of a file under a lease: its extents and size, and the data on the drive.
 *
 * <p>Writes go to the drive at once. The extents and the size that make them visible are committed
 * later. On the drive, the bytes after the end of the file are undefined. A write that starts after
 * the end first zeroes the rest of the last block. The caller excludes concurrent writes.
 */
final class FileContent {

    private static final int MAX_TRANSFER_BYTES = 4 << 20;

    private final DataPathSelector paths;
    private final long session;
    private final ExtentMap extents = new ExtentMap();

    /** The extents that were not committed. Guarded by this object, as the blocks below. */
    private final ExtentMap added = new ExtentMap();

    private final FreeSpace reserved = new FreeSpace(new Range(0, 0));

    /** Reserved blocks to which data is being written. */
    private final FreeSpace writing = new FreeSpace(new Range(0, 0));

    private volatile long size;

    /** The size that the coordinator knows. */
    private volatile long committedSize;

    private volatile boolean isChanged;

    /** The time of the last write in nanoseconds since 1970. */
    private volatile long modified;

    /**
     * @param session the session that the lease belongs to
     * @param committed the extents that the coordinator knows
     */
    FileContent(
            DataPathSelector paths, long session, Attributes attributes, List<FileExtent> committed)
            throws VolumeException {
        this.paths = paths;
        this.session = session;
        this.size = attributes.size();
        this.committedSize = size;
        for (var extent : committed) {
            extents.add(extent);
        }
    }

    /** Returns the session that the lease belongs to. */
    long session() {
        return session;
    }

    long size() {
        return size;
    }

    /** Returns the time of the last write. Meaningful while {@link #isChanged()}. */
    long modified() {
        return modified;
    }

    /** Returns true if a commit is necessary. */
    boolean isChanged() {
        return isChanged;
    }

    /**
     * Returns true if a commit shows blocks, or bytes of blocks, that must be durable before it. A
     * power failure could otherwise show what the blocks contained before.
     */
    synchronized boolean needsFlush() {
        return added.size() > 0 || size > committedSize;
    }

    /** Returns the extents that were not committed. */
    synchronized List<FileExtent> added() {
        return List.copyOf(added.extents());
    }

    /** Reports that everything was committed. */
    synchronized void committed() {
        var _ = added.truncate(0);
        committedSize = size;
        isChanged = false;
    }

    /** Returns the blocks that the coordinator has reserved, also those of {@link #added()}. */
    synchronized List<Range> reserved() {
        var all = new FreeSpace(reserved);
        writing.ranges().forEach(all::release);
        for (var extent : added.extents()) {
            all.release(new Range(extent.driveBlock(), extent.blocks()));
        }
        return all.ranges();
    }

    synchronized void reserve(List<Range> ranges) {
        ranges.forEach(reserved::release);
    }

    /** Returns the number of blocks that must be reserved before a write. */
    long missingBlocks(long position, long bytes) {
        var missing = 0L;
        var end = Namespace.blocks(position + bytes);
        for (var block = position / BLOCK_BYTES; block < end; ) {
            var extent = extents.find(block);
            var next =
                    Math.min(
                            end,
                            extent.isPresent()
                                    ? extent.get().endFileBlock()
                                    : extents.endOfHole(block));
            missing += extent.isPresent() ? 0 : next - block;
            block = next;
        }
        synchronized (this) {
            return Math.max(0, missing - reserved.free());
        }
    }

    /** Returns a block near which new blocks should be. */
    long lastDriveBlock() {
        var end = extents.end();
        return end == 0 ? 0 : extents.find(end - 1).map(FileExtent::endDriveBlock).orElse(0L);
    }

    /**
     * Reads bytes.
     *
     * @return the number of bytes, 0 at the end of the file
     */
    int read(long position, MemorySegment target) throws FabricException {
        var count = (int) Math.min(target.byteSize(), Math.max(0, size - position));
        for (var done = 0; done < count; ) {
            done += readPart(position + done, target.asSlice(done, count - done));
        }
        return count;
    }

    private int readPart(long position, MemorySegment target) throws FabricException {
        var block = position / BLOCK_BYTES;
        var inBlock = (int) (position % BLOCK_BYTES);
        var extent = extents.find(block);
        var end = extent.isPresent() ? extent.get().endFileBlock() : extents.endOfHole(block);
        var available =
                end > Long.MAX_VALUE / BLOCK_BYTES ? Long.MAX_VALUE : end * BLOCK_BYTES - position;
        var bytes =
                (int)
                        Math.min(
                                Math.min(target.byteSize(), available),
                                MAX_TRANSFER_BYTES - inBlock);
        var part = target.asSlice(0, bytes);
        if (extent.isEmpty()) {
            var _ = part.fill((byte) 0);
        } else if (inBlock == 0 && bytes % BLOCK_BYTES == 0 && target.isNative()) {
            paths.read(session, extent.get().driveBlockOf(block), part);
        } else {
            try (var arena = Arena.ofShared()) {
                var blocks = Namespace.blocks(inBlock + (long) bytes);
                var buffer = arena.allocate(blocks * BLOCK_BYTES, BLOCK_BYTES);
                paths.read(session, extent.get().driveBlockOf(block), buffer);
                MemorySegment.copy(buffer, inBlock, part, 0, bytes);
            }
        }
        return bytes;
    }

    /** Writes bytes. The blocks for new extents are reserved. */
    void write(long position, MemorySegment source) throws FabricException {
        if (position > size) {
            var _ = zeroEndOfLastBlock();
        }
        modified = Attributes.now();
        isChanged = true;
        for (var done = 0L; done < source.byteSize(); ) {
            var inBlock = (position + done) % BLOCK_BYTES;
            var bytes = Math.min(source.byteSize() - done, MAX_TRANSFER_BYTES - inBlock);
            writePart(position + done, source.asSlice(done, bytes));
            done += bytes;
            size = Math.max(size, position + done);
        }
    }

    private void writePart(long position, MemorySegment source) throws FabricException {
        var first = position / BLOCK_BYTES;
        var inBlock = position % BLOCK_BYTES;
        var blocks = Namespace.blocks(inBlock + source.byteSize());
        if (inBlock == 0 && source.byteSize() % BLOCK_BYTES == 0 && source.isNative()) {
            writeBlocks(first, source);
            return;
        }
        try (var arena = Arena.ofShared()) {
            var buffer = arena.allocate(blocks * BLOCK_BYTES, BLOCK_BYTES);
            if (inBlock != 0) {
                readOldBlock(first, buffer.asSlice(0, BLOCK_BYTES));
            }
            var isLastPartial = (inBlock + source.byteSize()) % BLOCK_BYTES != 0;
            if (isLastPartial && (blocks > 1 || inBlock == 0)) {
                readOldBlock(
                        first + blocks - 1,
                        buffer.asSlice((blocks - 1) * BLOCK_BYTES, BLOCK_BYTES));
            }
            MemorySegment.copy(source, 0, buffer, inBlock, source.byteSize());
            writeBlocks(first, buffer);
        }
    }

    /** Reads a block of the file. Bytes after the end of the file are zero. */
    private void readOldBlock(long block, MemorySegment target) throws FabricException {
        var valid = Math.clamp(size - block * BLOCK_BYTES, 0, BLOCK_BYTES);
        var extent = extents.find(block);
        if (valid > 0 && extent.isPresent()) {
            paths.read(session, extent.get().driveBlockOf(block), target);
            var _ = target.asSlice(valid).fill((byte) 0);
        }
    }

    private void writeBlocks(long first, MemorySegment data) throws FabricException {
        var count = data.byteSize() / BLOCK_BYTES;
        for (var done = 0L; done < count; ) {
            var block = first + done;
            var existing = extents.find(block);
            if (existing.isPresent()) {
                var extent = existing.get();
                var blocks = Math.min(count - done, extent.endFileBlock() - block);
                paths.write(session, extent.driveBlockOf(block), slice(data, done, blocks));
                done += blocks;
            } else {
                var hole = Math.min(count - done, extents.endOfHole(block) - block);
                writeHole(block, slice(data, done, hole), take(hole));
                done += hole;
            }
        }
    }

    private void writeHole(long first, MemorySegment data, List<Range> ranges)
            throws FabricException {
        var done = 0L;
        try {
            for (var range : ranges) {
                paths.write(session, range.block(), slice(data, done, range.blocks()));
                add(new FileExtent(first + done, range.block(), range.blocks()));
                done += range.blocks();
            }
        } finally {
            endWriting();
        }
    }

    /** Takes reserved blocks. The next extent continues the last one if possible. */
    private synchronized List<Range> take(long blocks) {
        var ranges = reserved.take(blocks, lastDriveBlock());
        ranges.forEach(writing::release);
        if (ranges.stream().mapToLong(Range::blocks).sum() != blocks) {
            endWriting();
            throw new IllegalStateException("Too few blocks are reserved");
        }
        return ranges;
    }

    private synchronized void add(FileExtent extent) throws VolumeException {
        writing.take(new Range(extent.driveBlock(), extent.blocks()));
        extents.add(extent);
        added.add(extent);
    }

    /**
     * Makes the blocks of a failed write available to this client again. According to {@link
     * org.jrdma.volume.drive.Drive}, the failed write takes no effect if the drive executes a later
     * access, and an exclusion precedes writes over another path. Other clients get the blocks
     * after the lease was returned.
     */
    private synchronized void endWriting() {
        for (var range : List.copyOf(writing.ranges())) {
            reserved.release(range);
        }
        writing.clear();
    }

    private static MemorySegment slice(MemorySegment data, long block, long blocks) {
        return data.asSlice(block * BLOCK_BYTES, blocks * BLOCK_BYTES);
    }

    /**
     * Zeroes the bytes between the size and the end of the last block.
     *
     * @return false if there are none
     */
    boolean zeroEndOfLastBlock() throws FabricException {
        var block = size / BLOCK_BYTES;
        var extent = extents.find(block);
        if (size % BLOCK_BYTES == 0 || extent.isEmpty()) {
            return false;
        }
        try (var arena = Arena.ofShared()) {
            var buffer = arena.allocate(BLOCK_BYTES, BLOCK_BYTES);
            readOldBlock(block, buffer);
            paths.write(session, extent.get().driveBlockOf(block), buffer);
        }
        return true;
    }

    /** Appends zeros, which need no blocks. */
    void extend(long newSize) throws FabricException {
        var _ = zeroEndOfLastBlock();
        modified = Attributes.now();
        isChanged = true;
        size = newSize;
    }

    /** Applies a new size that was committed. */
    void truncated(long newSize) {
        var _ = extents.truncate(Namespace.blocks(newSize));
        size = newSize;
        committedSize = newSize;
    }
}
