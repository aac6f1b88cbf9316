package org.jrdma.soft.sisci.fabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.soft.sisci.host.Mapping;

/**
 * A write buffer in which each 4-byte store triggers an interrupt of the peer. The buffer resets a
 * word to a random value after each store. A store is therefore detected even if it repeats the
 * value of the previous store. Several stores to the same word between two polls count as one.
 */
final class InterruptingWriteBuffer extends WriteBuffer {

    private static final VarHandle WORD = JAVA_INT.varHandle();

    private static final long PAGE_BYTES = 4096;

    private final MemorySegment memory;
    private final MemorySegment idlePage = Arena.ofAuto().allocate(PAGE_BYTES, Long.BYTES);
    private final long offset;
    private final boolean conditional;
    private final int idleValue = ThreadLocalRandom.current().nextInt();
    private boolean closed;

    /**
     * Creates a buffer for stores into a part of a remote memory, which must not be the memory of a
     * group.
     *
     * @param conditional true if a store increments the target word, and triggers an interrupt only
     *     if that word was zero
     */
    InterruptingWriteBuffer(Mapping mapping, SegmentLink target, long offset, boolean conditional) {
        super(target);
        this.memory = mapping.memory();
        this.offset = offset;
        this.conditional = conditional;
        for (var word = 0L; word < PAGE_BYTES; word += Integer.BYTES) {
            idlePage.set(JAVA_INT, word, idleValue);
        }
        for (var page = 0L; page < memory.byteSize(); page += PAGE_BYTES) {
            memory.asSlice(page, PAGE_BYTES).copyFrom(idlePage);
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
            if (MemorySegment.mismatch(memory, page, end, idlePage, 0, PAGE_BYTES) >= 0) {
                flush(page, end);
            }
        }
    }

    private void flush(long from, long to) {
        for (var word = from; word < to; word += Integer.BYTES) {
            if ((int) WORD.getVolatile(memory, word) != idleValue) {
                stored(word, (int) WORD.getAndSet(memory, word, idleValue));
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
        if (target.state() != SegmentLink.State.UP) {
            return;
        }
        var peer = target.connections().getFirst();
        var targetMemory = peer.window().memory();
        var targetOffset = offset + word;
        var interrupts = true;
        if (conditional) {
            interrupts = (int) WORD.getAndAdd(targetMemory, targetOffset, 1) == 0;
        } else {
            WORD.setVolatile(targetMemory, targetOffset, value);
        }
        if (interrupts) {
            peer.reportStore(targetOffset, conditional);
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
