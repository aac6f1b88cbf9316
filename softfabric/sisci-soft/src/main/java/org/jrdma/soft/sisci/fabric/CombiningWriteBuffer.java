package org.jrdma.soft.sisci.fabric;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jrdma.soft.sisci.host.Mapping;

/**
 * Emulates the write-combining buffer of a CPU for a map: stores into the buffer are delivered
 * later to one segment or to all members of a group.
 *
 * <p>Changes are found by comparing the memory with its previous contents, so a store of an equal
 * value is not delivered. The changes of an aligned word of 8 bytes are delivered atomically. If
 * the buffer is readable, changes of the segment appear in the buffer, except in words that contain
 * stores not delivered yet.
 */
final class CombiningWriteBuffer extends WriteBuffer {

    private static final int PAGE_BYTES = 4096;
    private static final int LINE_BYTES = 64;
    private static final int LINES = PAGE_BYTES / LINE_BYTES;
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final MemorySegment memory;

    /** The previous contents of {@code memory}, with which its contents are compared. */
    private final MemorySegment before;

    private final long offset;
    private final boolean reads;
    private final boolean waitsForFlush;
    private boolean closed;

    /**
     * Creates a buffer for stores into a part of a remote memory.
     *
     * @param offset the offset of the part in the remote memory
     * @param reads true if the buffer is readable: changes of the segment appear in it
     * @param waitsForFlush true if only a flush delivers changes, false if a poll does, too
     */
    CombiningWriteBuffer(
            Mapping mapping,
            SegmentLink target,
            long offset,
            boolean reads,
            boolean waitsForFlush) {
        super(target);
        this.memory = mapping.memory();
        this.before = Arena.ofAuto().allocate(memory.byteSize(), Long.BYTES);
        this.offset = offset;
        this.reads = reads;
        this.waitsForFlush = waitsForFlush;
        if (reads) {
            refresh();
        }
    }

    @Override
    void poll() {
        if (!waitsForFlush) {
            flush();
        } else if (reads) {
            refresh();
        }
    }

    /**
     * Delivers the changed pages in random order, and the 64-byte lines of each page in random
     * order.
     */
    @Override
    synchronized void flush() {
        if (closed) {
            return;
        }
        RandomOrder.visit(
                (int) (memory.byteSize() / PAGE_BYTES),
                number -> {
                    var page = (long) number * PAGE_BYTES;
                    if (differs(memory, page)) {
                        deliverPage(page);
                    }
                });
        if (reads) {
            refresh();
        }
    }

    /**
     * Delivers earlier stores, and then copies {@code source} directly to the target. All bytes are
     * copied, including those that are equal to the contents of the buffer.
     */
    @Override
    synchronized void copyFrom(MemorySegment source, long position) {
        if (closed) {
            return;
        }
        flush();
        for (var connection : target.connections()) {
            var targetMemory = connection.window().memory();
            // The members of a group can have different sizes.
            var available = targetMemory.byteSize() - offset - position;
            if (available > 0) {
                var bytes = Math.min(available, source.byteSize());
                MemorySegment.copy(source, 0, targetMemory, offset + position, bytes);
            }
        }
        copyToBuffer(source, position);
    }

    /** Updates the part of this buffer that overlaps with a copy to the same segment. */
    @Override
    synchronized void bypassed(MemorySegment source, long targetOffset) {
        var from = Math.max(targetOffset, offset);
        var to = Math.min(targetOffset + source.byteSize(), offset + memory.byteSize());
        if (!closed && from < to) {
            copyToBuffer(source.asSlice(from - targetOffset, to - from), from - offset);
        }
    }

    /**
     * Copies bytes to this buffer after they were copied to the target. Bytes that the program has
     * stored since the last delivery are kept.
     */
    private void copyToBuffer(MemorySegment source, long position) {
        var end = position + source.byteSize();
        for (var word = position & -Long.BYTES; word < end; word += Long.BYTES) {
            var previous = before.get(JAVA_LONG, word);
            var from = Math.max(word, position);
            MemorySegment.copy(
                    source, from - position, before, from, Math.min(word + Long.BYTES, end) - from);
            replaceUnchangedBytes(word, previous, before.get(JAVA_LONG, word));
        }
    }

    /** Replaces the bytes of a word that are equal to the bytes of its previous contents. */
    private void replaceUnchangedBytes(long position, long previous, long next) {
        while (true) {
            var stored = (long) WORD.getVolatile(memory, position);
            var changed = changedBytes(stored ^ previous);
            var replaced = (next & ~changed) | (stored & changed);
            if (WORD.compareAndSet(memory, position, stored, replaced)) {
                return;
            }
        }
    }

    private boolean differs(MemorySegment other, long page) {
        return MemorySegment.mismatch(
                        other, page, page + PAGE_BYTES, before, page, page + PAGE_BYTES)
                >= 0;
    }

    private void deliverPage(long page) {
        RandomOrder.visit(
                LINES,
                line -> {
                    for (var word = 0; word < LINE_BYTES; word += Long.BYTES) {
                        deliverWord(page + (long) line * LINE_BYTES + word);
                    }
                });
    }

    private void deliverWord(long position) {
        var stored = (long) WORD.getVolatile(memory, position);
        var previous = before.get(JAVA_LONG, position);
        if (stored == previous) {
            return;
        }
        before.set(JAVA_LONG, position, stored);
        var mask = changedBytes(stored ^ previous);
        for (var connection : target.connections()) {
            var targetMemory = connection.window().memory();
            if (offset + position + Long.BYTES <= targetMemory.byteSize()) {
                merge(targetMemory, offset + position, stored, mask);
            }
        }
    }

    /**
     * Returns a mask that has 0xFF in each byte in which {@code difference} is not 0, and 0 in all
     * other bytes.
     */
    private static long changedBytes(long difference) {
        var mask = 0L;
        for (var shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            if ((difference >>> shift & 0xff) != 0) {
                mask |= 0xffL << shift;
            }
        }
        return mask;
    }

    /** Replaces the bytes of a word that a mask selects. */
    private static void merge(MemorySegment memory, long position, long word, long mask) {
        while (true) {
            var current = (long) WORD.getVolatile(memory, position);
            if (WORD.compareAndSet(memory, position, current, (current & ~mask) | (word & mask))) {
                return;
            }
        }
    }

    /** Copies the changes of the segment to the words of this buffer that are delivered. */
    private synchronized void refresh() {
        if (closed || target.connections().isEmpty()) {
            return;
        }
        var source = target.connections().getFirst().window().memory();
        var readable = Math.min(memory.byteSize(), source.byteSize() - offset);
        for (var page = 0L; page + PAGE_BYTES <= readable; page += PAGE_BYTES) {
            if (differs(source.asSlice(offset), page)) {
                refreshPage(source, page);
            }
        }
    }

    private void refreshPage(MemorySegment source, long page) {
        for (var position = page; position < page + PAGE_BYTES; position += Long.BYTES) {
            var current = (long) WORD.getVolatile(source, offset + position);
            var previous = before.get(JAVA_LONG, position);
            if (current != previous && WORD.compareAndSet(memory, position, previous, current)) {
                before.set(JAVA_LONG, position, current);
            }
        }
    }

    /**
     * Drops stores that were not delivered. Afterwards, a readable buffer has the contents of the
     * segment, and all other buffers contain all ones.
     */
    @Override
    synchronized void reset() {
        if (closed) {
            return;
        }
        // The previous contents are reset first, so that a store by the program during this loop
        // is detected as a change.
        for (var copy : List.of(before, memory)) {
            if (reads && !target.connections().isEmpty()) {
                var source = target.connections().getFirst().window().memory();
                var readable = Math.min(copy.byteSize(), source.byteSize() - offset);
                MemorySegment.copy(source, offset, copy, 0, readable);
            } else {
                copy.fill((byte) -1);
            }
        }
    }

    @Override
    synchronized void close() {
        closed = true;
    }
}
