package org.jrdma.soft.sisci.fabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.host.Mapping;

/**
 * Memory where each store of 4 bytes is to interrupt the peer. Between stores every word there has
 * the same random value, so that a store of any other is seen, even of the same as before; several
 * at one place before anyone looks are one.
 */
final class TriggeringStores extends Stores {

    private static final VarHandle WORD = JAVA_INT.varHandle();

    private static final long PAGE_BYTES = 4096;

    private final MemorySegment memory;
    private final MemorySegment atRest = Arena.ofAuto().allocate(PAGE_BYTES, Long.BYTES);
    private final long offset;
    private final boolean conditional;
    private final int resting = ThreadLocalRandom.current().nextInt();
    private boolean closed;

    /**
     * Triggers what is at the only target of a segment.
     *
     * @param conditional whether stores are counted there, and interrupt only if none was counted
     */
    TriggeringStores(Mapping mapping, RemoteSegment segment, long offset, boolean conditional) {
        super(segment);
        this.memory = mapping.memory();
        this.offset = offset;
        this.conditional = conditional;
        for (var word = 0L; word < PAGE_BYTES; word += Integer.BYTES) {
            atRest.set(JAVA_INT, word, resting);
        }
        for (var page = 0L; page < memory.byteSize(); page += PAGE_BYTES) {
            memory.asSlice(page, PAGE_BYTES).copyFrom(atRest);
        }
    }

    @Override
    void tick() {
        drain();
    }

    @Override
    synchronized void drain() {
        if (closed) {
            return;
        }
        for (var page = 0L; page < memory.byteSize(); page += PAGE_BYTES) {
            var end = page + PAGE_BYTES;
            if (MemorySegment.mismatch(memory, page, end, atRest, 0, PAGE_BYTES) >= 0) {
                drain(page, end);
            }
        }
    }

    private void drain(long from, long to) {
        for (var word = from; word < to; word += Integer.BYTES) {
            if ((int) WORD.getVolatile(memory, word) != resting) {
                stored(word, (int) WORD.getAndSet(memory, word, resting));
            }
        }
    }

    @Override
    synchronized void copyFrom(MemorySegment source, long position) {
        for (var word = 0L; !closed && word + Integer.BYTES <= source.byteSize(); word += 4) {
            stored(position + word, source.get(JAVA_INT_UNALIGNED, word));
        }
    }

    private void stored(long word, int value) {
        if (segment.link() != RemoteSegment.Link.UP) {
            return; // nothing passes
        }
        var target = segment.targets().getFirst();
        var there = target.window().memory();
        var place = offset + word;
        var interrupts = true;
        if (conditional) {
            interrupts = (int) WORD.getAndAdd(there, place, 1) == 0;
        } else {
            WORD.setVolatile(there, place, value);
        }
        if (interrupts) {
            target.connection()
                    .send(
                            Message.of(
                                    Message.Kind.FLAG_STORED,
                                    target.number(),
                                    conditional ? 1 : 0,
                                    0,
                                    place));
        }
    }

    @Override
    void sentPast(MemorySegment source, long segmentOffset) {}

    @Override
    void renew() {}

    @Override
    synchronized void close() {
        closed = true;
    }
}
