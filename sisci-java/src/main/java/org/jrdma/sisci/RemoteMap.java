package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jrdma.ffi.guard.CallGuard;
import org.jrdma.sisci.internal.Constant;
import org.jrdma.sisci.model.SisciException;

/**
 * A map of a segment of another node: what is stored here appears there.
 *
 * <p>Stores do not wait. They are gathered and may arrive in another order, and some may stay in
 * the CPU for a while. No fence of Java's changes that: {@link #putLongRelease} stores after all
 * that came before, and {@link #flush()} drains what the CPU still holds. Whether they arrived, a
 * {@link Sequence} tells. A load waits for the answer of the other node, some microseconds; loads
 * in bulk are very slow.
 */
public final class RemoteMap extends SegmentMap {

    /** By one call: a tenth of a millisecond on hardware. */
    static final long MOST_WRITTEN = 1 << 20;

    /** By one call: half a millisecond on hardware. */
    private static final long MOST_READ = 4 << 10;

    RemoteMap(Mapping mapping) {
        super(mapping);
    }

    /**
     * Flushes all that was stored before, then stores: whoever sees this there sees that too. In C:
     * {@code SCIFlush}.
     */
    @Override
    public void putIntRelease(long offset, int value) {
        flush();
        super.putIntRelease(offset, value);
    }

    /**
     * Flushes all that was stored before, then stores: whoever sees this there sees that too. In C:
     * {@code SCIFlush}.
     */
    @Override
    public void putLongRelease(long offset, long value) {
        flush();
        super.putLongRelease(offset, value);
    }

    /** Drains what this CPU still holds of stores, into any map. In C: {@code SCIFlush}. */
    public void flush() {
        flush(0);
    }

    /**
     * The same, and no more than the CPU. In C: {@code SCIFlush} with {@code
     * SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY}.
     *
     * @throws UnsupportedOperationException if the library does not tell the flag's number, which
     *     is not public
     */
    public void flushCpuBuffers() {
        flush(functions().library().number(Constant.SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY));
    }

    private void flush(int flags) {
        var guard = CallGuard.ofCurrentThread();
        guard.enter();
        try {
            checkOpen();
            functions().stores().flush(0, flags);
        } finally {
            guard.exit();
        }
    }

    /** When it begins to be closed, stores a last number, after all that came before. */
    void putLongAtClose(long offset, long value) {
        var stores = functions().stores();
        var memory = segment(); // not this, so that a forgotten one is found
        lifetime()
                .onClose(() -> {
                    stores.flush(0, 0);
                    memory.set(ValueLayout.JAVA_LONG, offset, value);
                    stores.flush(0, 0);
                });
    }

    /**
     * Copies memory to the other node, in the fastest way that the library knows. In C: {@code
     * SCIMemCpy}, once for each MiB.
     *
     * @param source native memory
     */
    public void copyFrom(MemorySegment source, long offset) throws SisciException {
        copy(0, source, offset, 0, MOST_WRITTEN);
    }

    /**
     * Copies from the other node, which is slow. In C: {@code SCIMemCpy} with {@code
     * SCI_FLAG_BLOCK_READ}, once for each 4 KiB.
     *
     * @param target native memory
     * @throws UnsupportedOperationException if the library does not tell the flag's number, which
     *     is not public
     */
    public void copyTo(MemorySegment target, long offset) throws SisciException {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("The target is read-only");
        }
        copy(
                0,
                target,
                offset,
                functions().library().number(Constant.SCI_FLAG_BLOCK_READ),
                MOST_READ);
    }

    /**
     * @param sequence its handle, or 0; it must not be closed meanwhile
     * @param most how much by one call
     */
    void copy(long sequence, MemorySegment memory, long offset, int flags, long most)
            throws SisciException {
        var bytes = memory.byteSize();
        var _ = Objects.checkFromIndexSize(offset, bytes, byteSize());
        if (bytes <= most) {
            copyPiece(sequence, memory, offset, flags);
            return;
        }
        for (var done = 0L; done < bytes; done += most) {
            copyPiece(
                    sequence,
                    memory.asSlice(done, Math.min(most, bytes - done)),
                    offset + done,
                    flags);
        }
    }

    /** In a guard, which each close in the process waits for: it must be short. */
    private void copyPiece(long sequence, MemorySegment memory, long offset, int flags)
            throws SisciException {
        var guard = CallGuard.ofCurrentThread();
        guard.enter();
        int code;
        try {
            checkOpen();
            code = functions().stores().copy(sequence, memory, address().address(), offset, flags);
        } finally {
            guard.exit();
        }
        if (code != 0) {
            throw functions().library().failure("SCIMemCpy", this, code, 0);
        }
    }

    private void checkOpen() {
        if (lifetime().isClosed()) {
            throw lifetime().closedException();
        }
    }

    /** Makes a sequence, which tells whether stores arrived. */
    public Sequence newSequence() throws SisciException {
        return newSequence(false);
    }

    /**
     * Makes a sequence. In C: {@code SCICreateMapSequence}.
     *
     * @param fast whether its barriers may promise less; in C: {@code SCI_FLAG_FAST_BARRIER}
     * @throws UnsupportedOperationException if the library does not tell the flag's number, which
     *     is not public
     */
    public Sequence newSequence(boolean fast) throws SisciException {
        return inCall(() -> Sequence.create(this, fast));
    }
}
