package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jrdma.soft.sisci.host.Mapping;
import org.jspecify.annotations.Nullable;

/**
 * A part of a segment that is mapped into the memory of this process. In C: {@code sci_map_t}. Safe
 * for use by multiple threads.
 */
public final class SegmentMap {

    private static final int LOCAL_FLAGS =
            SCI_FLAG_READONLY_MAP() | SCI_FLAG_SHARED_MAP() | SCI_FLAG_WRITE_BACK_CACHE_MAP();
    private static final int REMOTE_FLAGS =
            LOCAL_FLAGS
                    | SCI_FLAG_IO_MAP_IOSPACE()
                    | SCI_FLAG_NO_MEMORY_LOOPBACK()
                    | SCI_FLAG_CONDITIONAL_INTERRUPT_MAP()
                    | SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP();

    /** The flags that are rejected, because shared memory cannot implement them. */
    private static final int UNSUPPORTED_FLAGS =
            SCI_FLAG_FIXED_MAP_ADDR() | SCI_FLAG_LOCK_OPERATION();

    private final Mapping mapping;
    private final long bytes;
    private final @Nullable SegmentLink remote;

    /** The write buffer; null if stores directly access the segment. */
    private final @Nullable WriteBuffer buffer;

    private final Runnable onUnmap;
    private int sequences;
    private boolean unmapped;

    private SegmentMap(
            Mapping mapping,
            long bytes,
            @Nullable SegmentLink remote,
            @Nullable WriteBuffer buffer,
            Runnable onUnmap) {
        this.mapping = mapping;
        this.bytes = bytes;
        this.remote = remote;
        this.buffer = buffer;
        this.onUnmap = onUnmap;
    }

    static SegmentMap ofLocal(LocalSegment segment, int file, long offset, long length, int flags) {
        checkFlags(flags, LOCAL_FLAGS);
        var _ = segment.hold();
        try {
            checkRange(offset, length, segment.bytes());
            var mapping =
                    SciException.translate(
                            () -> Mapping.of(file, offset, length, isWritable(flags)));
            return new SegmentMap(
                    mapping,
                    length,
                    null,
                    null,
                    () -> {
                        mapping.close();
                        segment.release();
                    });
        } catch (Throwable e) {
            segment.release();
            throw e;
        }
    }

    static SegmentMap ofRemote(
            SegmentLink link, ProcessContext context, long offset, long length, int flags) {
        checkFlags(flags, REMOTE_FLAGS);
        link.hold();
        try {
            throwIf(link.state() == SegmentLink.State.LOST, SCI_ERR_SEGMENT_NOT_CONNECTED());
            checkRange(offset, length, link.bytes());
            context.faults().reserveWindow(length);
            try {
                return SciException.translate(() -> remote(link, context, offset, length, flags));
            } catch (Throwable e) {
                context.faults().releaseWindow(length);
                throw e;
            }
        } catch (Throwable e) {
            link.release();
            throw e;
        }
    }

    private static SegmentMap remote(
            SegmentLink link, ProcessContext context, long offset, long length, int flags)
            throws FabricException {
        var isDirect = link.isLoopback() && !FlagChecks.has(flags, SCI_FLAG_NO_MEMORY_LOOPBACK());
        var isUncached = FlagChecks.has(flags, SCI_FLAG_IO_MAP_IOSPACE());
        var isWeak = context.faults().weakMemory() && !isDirect && !isUncached;
        var isConditional = FlagChecks.has(flags, SCI_FLAG_CONDITIONAL_INTERRUPT_MAP());
        var interrupts =
                isConditional || FlagChecks.has(flags, SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP());
        throwIf(interrupts && link.isGroup(), SCI_ERR_FLAG_NOT_IMPLEMENTED());
        throwIf(interrupts && !isWritable(flags), SCI_ERR_ILLEGAL_FLAG());
        if (!interrupts && !link.isGroup() && !(isWeak && isWritable(flags))) {
            var connection = link.connections().getFirst();
            var mapping = connection.map(offset, length, isWritable(flags));
            return remote(link, context, mapping, length, null, () -> connection.unmap(mapping));
        }
        var stores = Mapping.anonymous(length);
        var buffer =
                interrupts
                        ? new InterruptingWriteBuffer(stores, link, offset, isConditional)
                        : new CombiningWriteBuffer(stores, link, offset, !link.isGroup(), isWeak);
        context.writeBuffers().add(buffer);
        return remote(
                link,
                context,
                stores,
                length,
                buffer,
                () -> {
                    context.writeBuffers().remove(buffer);
                    stores.close();
                });
    }

    private static SegmentMap remote(
            SegmentLink link,
            ProcessContext context,
            Mapping mapping,
            long length,
            @Nullable WriteBuffer buffer,
            Runnable unmap) {
        return new SegmentMap(
                mapping,
                length,
                link,
                buffer,
                () -> {
                    unmap.run();
                    context.faults().releaseWindow(length);
                    link.release();
                });
    }

    private static void checkFlags(int flags, int possible) {
        throwIf((flags & UNSUPPORTED_FLAGS) != 0, SCI_ERR_FLAG_NOT_IMPLEMENTED());
        FlagChecks.checkAllowed(flags, possible);
    }

    /** Fails if a range does not begin at a page, is empty, or does not lie within the segment. */
    static void checkRange(long offset, long length, long available) {
        throwIf(
                offset < 0 || length < 0 || length > available || offset > available - length,
                SCI_ERR_OUT_OF_RANGE());
        throwIf(length == 0, SCI_ERR_SIZE_ALIGNMENT());
        throwIf(!Mapping.isPageAligned(offset), SCI_ERR_OFFSET_ALIGNMENT());
    }

    private static boolean isWritable(int flags) {
        return !FlagChecks.has(flags, SCI_FLAG_READONLY_MAP());
    }

    public long address() {
        return mapping.address();
    }

    public long bytes() {
        return bytes;
    }

    /** Returns true if the memory belongs to this node, so that no link is involved. */
    public boolean isLocal() {
        return remote == null || remote.isLoopback();
    }

    @Nullable SegmentLink remote() {
        return remote;
    }

    /**
     * Copies memory of this process to the map. The data arrives at the segment at the latest at
     * the next flush.
     */
    public void copyFrom(long source, long offset, long length) {
        if (buffer == null) {
            UncheckedMemory.copy(source, mapping.address() + offset, length);
        } else {
            buffer.copyFrom(Downcalls.memoryAt(MemorySegment.ofAddress(source), length), offset);
        }
    }

    public void flush() {
        if (buffer != null) {
            buffer.flush();
        }
    }

    /**
     * Disconnects the map from the memory, because the owner has removed the segment or has ended.
     */
    void cut() throws FabricException {
        mapping.cut();
    }

    synchronized boolean isUnmapped() {
        return unmapped;
    }

    synchronized void addSequence() {
        throwIf(unmapped, SCI_ERR_ILLEGAL_PARAMETER());
        sequences++;
    }

    synchronized void removeSequence() {
        sequences--;
    }

    /** Unmaps the part of the segment. In C: {@code SCIUnmapSegment}. */
    public void unmap() {
        synchronized (this) {
            throwIf(unmapped, SCI_ERR_ILLEGAL_PARAMETER());
            throwIf(sequences > 0, SCI_ERR_BUSY());
            unmapped = true;
        }
        onUnmap.run();
    }
}
