package org.jrdma.soft.sisci.fabric;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.soft.sisci.host.Mapping;

/**
 * Memory that a program stores into, whose changes go to one or more segments together: as in the
 * buffers of a processor that combines stores, and as a switch that copies them to a group.
 *
 * <p>What has changed is found by comparing with what was there before, so a store of the same is
 * none. Words of 8 bytes arrive whole. The other way, what has changed in the segment shows in the
 * memory, where the program has not stored meanwhile.
 */
final class GatheredStores {

    private static final int PAGE_BYTES = 4096;
    private static final int LINE_BYTES = 64;
    private static final int LINES = PAGE_BYTES / LINE_BYTES;
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final MemorySegment memory;
    private final MemorySegment before;
    private final RemoteSegment segment;
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
        this.memory = mapping.memory();
        this.before = Arena.ofAuto().allocate(memory.byteSize(), Long.BYTES);
        this.segment = segment;
        this.offset = offset;
        this.reads = reads;
        this.waitsForDrain = waitsForDrain;
        if (reads) {
            refresh();
        }
    }

    /** What is to be done now and then. */
    void tick() {
        if (!waitsForDrain) {
            drain();
        } else if (reads) {
            refresh();
        }
    }

    /** Sends what has changed, in lines, in no order. */
    synchronized void drain() {
        if (closed) {
            return;
        }
        for (var page = 0L; page < memory.byteSize(); page += PAGE_BYTES) {
            if (differs(memory, page)) {
                drainPage(page);
            }
        }
        if (reads) {
            refresh();
        }
    }

    private boolean differs(MemorySegment other, long page) {
        return MemorySegment.mismatch(
                        other, page, page + PAGE_BYTES, before, page, page + PAGE_BYTES)
                >= 0;
    }

    private void drainPage(long page) {
        var start = ThreadLocalRandom.current().nextInt(LINES);
        var step = ThreadLocalRandom.current().nextInt(LINES) | 1; // odd, so it meets every line
        for (var i = 0; i < LINES; i++) {
            var line = (start + i * step) % LINES;
            for (var word = 0; word < LINE_BYTES; word += Long.BYTES) {
                drainWord(page + (long) line * LINE_BYTES + word);
            }
        }
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

    boolean isOf(RemoteSegment other) {
        return segment == other;
    }

    /** Nobody may store any more. */
    synchronized void close() {
        closed = true;
    }
}
