package org.jrdma.soft.sisci.fabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.host.Mapping;

/**
 * A buffer each of whose stores of 4 bytes interrupts the peer. Between stores all words have the
 * same random value, so that a store of any other value is found, even of the same as before.
 * Several stores at one place between two polls are one.
 */
final class InterruptingWriteBuffer extends WriteBuffer {

    private static final VarHandle WORD = JAVA_INT.varHandle();

    private static final long PAGE_BYTES = 4096;

    private final MemorySegment memory;
    private final MemorySegment atRest = Arena.ofAuto().allocate(PAGE_BYTES, Long.BYTES);
    private final long offset;
    private final boolean conditional;
    private final int resting = ThreadLocalRandom.current().nextInt();
    private boolean closed;

    /**
     * A buffer in front of a part of a remote memory, which is no group.
     *
     * @param conditional whether stores are counted there, and interrupt only if none was counted
     */
    InterruptingWriteBuffer(
            Mapping mapping, RemoteMemory target, long offset, boolean conditional) {
        super(target);
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
    void poll() {
        flush();
    }

    @Override
    synchronized void flush() {
        if (closed) {
            return;
        }
        for (var page = 0L; page < memory.byteSize(); page += PAGE_BYTES) {
            var end = page + PAGE_BYTES;
            if (MemorySegment.mismatch(memory, page, end, atRest, 0, PAGE_BYTES) >= 0) {
                flush(page, end);
            }
        }
    }

    private void flush(long from, long to) {
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
        if (target.link() != RemoteMemory.Link.UP) {
            return;
        }
        var peer = target.connections().getFirst();
        var there = peer.window().memory();
        var place = offset + word;
        var interrupts = true;
        if (conditional) {
            interrupts = (int) WORD.getAndAdd(there, place, 1) == 0;
        } else {
            WORD.setVolatile(there, place, value);
        }
        if (interrupts) {
            peer.connection()
                    .send(
                            Message.of(
                                    Kind.FLAG_STORED,
                                    peer.number(),
                                    conditional ? 1 : 0,
                                    0,
                                    place));
        }
    }

    @Override
    void bypassed(MemorySegment source, long targetOffset) {}

    @Override
    void reset() {}

    @Override
    synchronized void close() {
        closed = true;
    }
}
