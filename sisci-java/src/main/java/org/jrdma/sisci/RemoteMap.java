package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jrdma.ffi.linkage.SegmentChecks;
import org.jrdma.sisci.internal.SisciConstant;
import org.jrdma.sisci.model.SisciException;

/**
 * A map of a remote segment. Stores into the map change the memory of the other node.
 *
 * <p>Stores do not block. The CPU and the fabric may combine and reorder them, and the CPU may hold
 * some of them in its write buffers. Java's memory fences have no effect on this. {@link
 * #putLongRelease} stores a value after all earlier stores, and {@link #flush()} drains the write
 * buffers of the CPU. A {@link Sequence} checks whether stores have arrived. A load waits for the
 * response of the other node, which takes some microseconds, so bulk loads are very slow.
 */
public final class RemoteMap extends SegmentMap {

    /**
     * The maximum number of bytes that one library call copies to the other node. On hardware, such
     * a call takes about 0.1 ms.
     */
    static final long MAX_WRITE_PIECE = 1 << 20;

    /**
     * The maximum number of bytes that one library call copies from the other node. On hardware,
     * such a call takes about 0.5 ms.
     */
    private static final long MAX_READ_PIECE = 4 << 10;

    RemoteMap(Mapping mapping) {
        super(mapping);
    }

    /**
     * Flushes earlier stores, and then stores a value. A process of the other node that loads this
     * value also sees the earlier stores. In C: {@code SCIFlush}.
     */
    @Override
    public void putIntRelease(long offset, int value) {
        flush();
        super.putIntRelease(offset, value);
    }

    /**
     * Flushes earlier stores, and then stores a value. A process of the other node that loads this
     * value also sees the earlier stores. In C: {@code SCIFlush}.
     */
    @Override
    public void putLongRelease(long offset, long value) {
        flush();
        super.putLongRelease(offset, value);
    }

    /**
     * Drains the write buffers of this CPU, which may contain stores into any map. In C: {@code
     * SCIFlush}.
     */
    public void flush() {
        flush(0);
    }

    /**
     * Drains the write buffers of this CPU, but no buffers of the adapter. In C: {@code SCIFlush}
     * with {@code SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY}.
     *
     * @throws UnsupportedOperationException if the library does not export the flag's number
     */
    public void flushCpuBuffers() {
        flush(functions().library().number(SisciConstant.SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY));
    }

    private void flush(int flags) {
        var guard = enterGuard();
        try {
            functions().stores().flush(0, flags);
        } finally {
            guard.exit();
        }
    }

    /**
     * Registers a store that is executed when the close of this map begins. It follows all earlier
     * stores.
     */
    void putLongAtClose(long offset, long value) {
        var stores = functions().stores();
        // The callback must not refer to this map, so that a leaked map can be detected.
        var memory = segment();
        lifetime()
                .onClose(() -> {
                    stores.flush(0, 0);
                    memory.set(ValueLayout.JAVA_LONG, offset, value);
                    stores.flush(0, 0);
                });
    }

    /**
     * Copies memory to the other node with the library's fastest method. In C: {@code SCIMemCpy},
     * once for each MiB.
     *
     * @param source the source
     * @throws IllegalArgumentException if {@code source} is on the heap
     * @throws IllegalStateException if the memory of {@code source} was freed
     * @throws WrongThreadException if {@code source} belongs to another thread
     */
    public void copyFrom(MemorySegment source, long offset) throws SisciException {
        copy(0, source, offset, 0, MAX_WRITE_PIECE);
    }

    /**
     * Copies memory from the other node, which is slow. In C: {@code SCIMemCpy} with {@code
     * SCI_FLAG_BLOCK_READ}, once for each 4 KiB.
     *
     * @param target the target
     * @throws IllegalArgumentException if {@code target} is on the heap, or read-only
     * @throws IllegalStateException if the memory of {@code target} was freed
     * @throws WrongThreadException if {@code target} belongs to another thread
     * @throws UnsupportedOperationException if the library does not export the flag's number
     */
    public void copyTo(MemorySegment target, long offset) throws SisciException {
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("Cannot copy to read-only memory");
        }
        copy(
                0,
                target,
                offset,
                functions().library().number(SisciConstant.SCI_FLAG_BLOCK_READ),
                MAX_READ_PIECE);
    }

    /**
     * Copies memory to or from the other node, in pieces. The flags determine the direction.
     *
     * @param sequence the handle of a sequence that must stay open during the copy, or 0
     * @param maxPiece the maximum size of a piece in bytes
     */
    void copy(long sequence, MemorySegment memory, long offset, int flags, long maxPiece)
            throws SisciException {
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "Cannot copy memory on the heap. Allocate the segment in an Arena.");
        }
        SegmentChecks.checkAccessible(memory);
        var bytes = memory.byteSize();
        var _ = Objects.checkFromIndexSize(offset, bytes, byteSize());
        if (bytes <= maxPiece) {
            copyPiece(sequence, memory, offset, flags);
            return;
        }
        for (var done = 0L; done < bytes; done += maxPiece) {
            copyPiece(
                    sequence,
                    memory.asSlice(done, Math.min(maxPiece, bytes - done)),
                    offset + done,
                    flags);
        }
    }

    /**
     * Copies one piece by one library call. The piece must be small, because every close in the
     * process waits for the call guard of this call.
     */
    private void copyPiece(long sequence, MemorySegment memory, long offset, int flags)
            throws SisciException {
        var guard = enterGuard();
        int code;
        try {
            code = functions().stores().copy(sequence, memory, address().address(), offset, flags);
        } finally {
            guard.exit();
        }
        if (code != 0) {
            throw functions().library().failure("SCIMemCpy", this, code, 0);
        }
    }

    /** Creates a sequence, which checks whether stores into this map have arrived. */
    public Sequence newSequence() throws SisciException {
        return newSequence(false);
    }

    /**
     * Creates a sequence for this map. In C: {@code SCICreateMapSequence}.
     *
     * @param fast true for faster barriers with weaker guarantees; in C: {@code
     *     SCI_FLAG_FAST_BARRIER}
     * @throws UnsupportedOperationException if the library does not export the flag's number
     */
    public Sequence newSequence(boolean fast) throws SisciException {
        return inCall(() -> Sequence.create(this, fast));
    }
}
