package org.jrdma.soft.sisci.fabric;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jrdma.soft.sisci.host.Mapping;

/**
 * Memory that a program stores into, whose changes go to one or more segments together: as in the
 * buffers of a processor that combines stores, and as a switch that copies them to a group.
 *
 * <p>What has changed is found by comparing with what was there before, so a store of the same is
 * none. Words of 8 bytes arrive whole. The other way, what has changed in the segment shows in the
 * memory, where the program has not stored meanwhile.
 */
final class GatheredStores extends Stores {

    private static final int PAGE_BYTES = 4096;
    private static final int LINE_BYTES = 64;
    private static final int LINES = PAGE_BYTES / LINE_BYTES;
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final MemorySegment memory;
    private final MemorySegment before;
    private final long offset;
    private final boolean reads;
    private final boolean waitsForDrain;
    private boolean closed;

    /**
     * Gathers for all targets of a segment.
     *
     * @param reads whether the segment's changes show here
     * @param waitsForDrain whether nothing goes out until someone asks
     */
    GatheredStores(
            Mapping mapping,
            RemoteSegment segment,
            long offset,
            long length,
            boolean reads,
            boolean waitsForDrain) {
        super(segment);
        this.memory = mapping.memory();
        this.before = Arena.ofAuto().allocate(memory.byteSize(), Long.BYTES);
        this.offset = offset;
        this.reads = reads;
        this.waitsForDrain = waitsForDrain;
        if (reads) {
            refresh();
        }
    }

    @Override
    void tick() {
        if (!waitsForDrain) {
            drain();
        } else if (reads) {
            refresh();
        }
    }

    /** Sends what has changed: pages in no order, and the lines of each in no order. */
    @Override
    synchronized void drain() {
        if (closed) {
            return;
        }
        Disorder.visit(
                (int) (memory.byteSize() / PAGE_BYTES),
                number -> {
                    var page = (long) number * PAGE_BYTES;
                    if (differs(memory, page)) {
                        drainPage(page);
                    }
                });
        if (reads) {
            refresh();
        }
    }

    /**
     * Sends a copy of memory as it stands, whatever was stored there before; what the program has
     * stored goes first.
     */
    @Override
    synchronized void copyFrom(MemorySegment source, long position) {
        if (closed) {
            return;
        }
        drain();
        for (var target : segment.targets()) {
            var there = target.window().memory();
            var room = there.byteSize() - offset - position; // of a group, not all are as large
            if (room > 0) {
                var bytes = Math.min(room, source.byteSize());
                MemorySegment.copy(source, 0, there, offset + position, bytes);
            }
        }
        show(source, position);
    }

    /** What has gone to the segment past this memory shows here, as far as it is mapped. */
    @Override
    synchronized void sentPast(MemorySegment source, long segmentOffset) {
        var from = Math.max(segmentOffset, offset);
        var to = Math.min(segmentOffset + source.byteSize(), offset + memory.byteSize());
        if (!closed && from < to) {
            show(source.asSlice(from - segmentOffset, to - from), from - offset);
        }
    }

    private void show(MemorySegment source, long position) {
        var end = position + source.byteSize();
        for (var word = position & -Long.BYTES; word < end; word += Long.BYTES) {
            var then = before.get(JAVA_LONG, word);
            var from = Math.max(word, position);
            MemorySegment.copy(
                    source, from - position, before, from, Math.min(word + Long.BYTES, end) - from);
            showWord(word, then, before.get(JAVA_LONG, word));
        }
    }

    /** But for the bytes that the program has stored meanwhile, which are yet to be sent. */
    private void showWord(long position, long then, long there) {
        while (true) {
            var now = (long) WORD.getVolatile(memory, position);
            var mask = changedBytes(now ^ then);
            if (WORD.compareAndSet(memory, position, now, (there & ~mask) | (now & mask))) {
                return;
            }
        }
    }

    private boolean differs(MemorySegment other, long page) {
        return MemorySegment.mismatch(
                        other, page, page + PAGE_BYTES, before, page, page + PAGE_BYTES)
                >= 0;
    }

    private void drainPage(long page) {
        Disorder.visit(
                LINES,
                line -> {
                    for (var word = 0; word < LINE_BYTES; word += Long.BYTES) {
                        drainWord(page + (long) line * LINE_BYTES + word);
                    }
                });
    }

    private void drainWord(long position) {
        var now = (long) WORD.getVolatile(memory, position);
        var then = before.get(JAVA_LONG, position);
        if (now == then) {
            return;
        }
        before.set(JAVA_LONG, position, now);
        var mask = changedBytes(now ^ then);
        for (var target : segment.targets()) {
            if (offset + position + Long.BYTES <= target.window().memory().byteSize()) {
                merge(target.window().memory(), offset + position, now, mask);
            }
        }
    }

    /** Bytes of all ones where any bit is set. */
    private static long changedBytes(long difference) {
        var mask = 0L;
        for (var shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            if ((difference >>> shift & 0xff) != 0) {
                mask |= 0xffL << shift;
            }
        }
        return mask;
    }

    private static void merge(MemorySegment target, long position, long word, long mask) {
        while (true) {
            var there = (long) WORD.getVolatile(target, position);
            if (WORD.compareAndSet(target, position, there, (there & ~mask) | (word & mask))) {
                return;
            }
        }
    }

    private synchronized void refresh() {
        if (closed || segment.targets().isEmpty()) {
            return;
        }
        var source = segment.targets().getFirst().window().memory();
        var readable = Math.min(memory.byteSize(), source.byteSize() - offset);
        for (var page = 0L; page + PAGE_BYTES <= readable; page += PAGE_BYTES) {
            if (differs(source.asSlice(offset), page)) {
                refreshPage(source, page);
            }
        }
    }

    private void refreshPage(MemorySegment source, long page) {
        for (var position = page; position < page + PAGE_BYTES; position += Long.BYTES) {
            var there = (long) WORD.getVolatile(source, offset + position);
            var then = before.get(JAVA_LONG, position);
            if (there != then && WORD.compareAndSet(memory, position, then, there)) {
                before.set(JAVA_LONG, position, there);
            }
        }
    }

    /**
     * The way has been cut, or mended: what was stored and not sent is lost, and what is stored
     * again is new.
     */
    @Override
    synchronized void renew() {
        if (closed) {
            return;
        }
        for (var copy : List.of(before, memory)) { // so that what is stored meanwhile is new too
            if (reads && !segment.targets().isEmpty()) {
                var source = segment.targets().getFirst().window().memory();
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
