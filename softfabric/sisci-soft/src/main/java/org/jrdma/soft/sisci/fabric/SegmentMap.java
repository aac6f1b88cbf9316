package org.jrdma.soft.sisci.fabric;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.AddressSpace;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.sisci.host.Mapping;
import org.jspecify.annotations.Nullable;

/**
 * A part of a segment in this process's memory. In C: {@code sci_map_t}. Safe for use by several
 * threads.
 */
public final class SegmentMap {

    private static final int LOCAL_FLAGS =
            sisci_h.SCI_FLAG_READONLY_MAP()
                    | sisci_h.SCI_FLAG_SHARED_MAP()
                    | sisci_h.SCI_FLAG_WRITE_BACK_CACHE_MAP();
    private static final int REMOTE_FLAGS =
            LOCAL_FLAGS
                    | sisci_h.SCI_FLAG_IO_MAP_IOSPACE()
                    | sisci_h.SCI_FLAG_NO_MEMORY_LOOPBACK()
                    | sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT_MAP()
                    | sisci_h.SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP();

    /** What exists, and no shared memory can do. */
    private static final int OTHER_FLAGS =
            sisci_h.SCI_FLAG_FIXED_MAP_ADDR() | sisci_h.SCI_FLAG_LOCK_OPERATION();

    private final long bytes;
    private final @Nullable LocalSegment local;
    private final @Nullable RemoteSegment remote;
    private final Mapping mapping;

    /** Where stores are gathered, unless they go straight to the segment. */
    private final @Nullable Stores gathered;

    private int sequences;
    private boolean unmapped;

    private SegmentMap(
            long bytes,
            @Nullable LocalSegment local,
            @Nullable RemoteSegment remote,
            Mapping mapping,
            @Nullable Stores gathered) {
        this.bytes = bytes;
        this.local = local;
        this.remote = remote;
        this.mapping = mapping;
        this.gathered = gathered;
    }

    static SegmentMap ofLocal(LocalSegment segment, int file, long offset, long length, int flags) {
        checkFlags(flags, LOCAL_FLAGS);
        var _ = segment.hold();
        try {
            checkRange(offset, length, segment.bytes());
            return new SegmentMap(
                    length,
                    segment,
                    null,
                    Mapping.of(file, offset, length, isWritable(flags)),
                    null);
        } catch (FabricException e) {
            segment.release();
            throw Refusal.of(e);
        } catch (RuntimeException e) {
            segment.release();
            throw e;
        }
    }

    static SegmentMap ofRemote(RemoteSegment segment, long offset, long length, int flags) {
        checkFlags(flags, REMOTE_FLAGS);
        segment.hold();
        try {
            Refusal.when(
                    segment.link() == RemoteSegment.Link.LOST,
                    sisci_h.SCI_ERR_SEGMENT_NOT_CONNECTED());
            checkRange(offset, length, segment.bytes());
            segment.member().takeWindow(length);
            try {
                return remote(segment, offset, length, flags);
            } catch (RuntimeException e) {
                segment.member().giveWindow(length);
                throw e;
            }
        } catch (RuntimeException e) {
            segment.release();
            throw e;
        }
    }

    private static SegmentMap remote(RemoteSegment segment, long offset, long length, int flags) {
        var member = segment.member();
        var isGroup = segment.node() == sisci_h.DIS_BROADCAST_NODEID_GROUP_ALL();
        var isPlain =
                segment.isLoopback()
                        && !OwnSegment.has(flags, sisci_h.SCI_FLAG_NO_MEMORY_LOOPBACK());
        var isUncached = OwnSegment.has(flags, sisci_h.SCI_FLAG_IO_MAP_IOSPACE());
        var isWeak = member.hasWeakMemory() && !isPlain && !isUncached;
        var isConditional = OwnSegment.has(flags, sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT_MAP());
        var interrupts =
                isConditional
                        || OwnSegment.has(
                                flags, sisci_h.SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP());
        Refusal.when(interrupts && isGroup, sisci_h.SCI_ERR_FLAG_NOT_IMPLEMENTED());
        Refusal.when(interrupts && !isWritable(flags), sisci_h.SCI_ERR_ILLEGAL_FLAG());
        try {
            if (interrupts) {
                var memory = Mapping.anonymous(length);
                var triggering = new TriggeringStores(memory, segment, offset, isConditional);
                member.pump().add(triggering);
                return new SegmentMap(length, null, segment, memory, triggering);
            }
            if (isGroup || (isWeak && isWritable(flags))) {
                var memory = Mapping.anonymous(length);
                var gathered =
                        new GatheredStores(memory, segment, offset, length, !isGroup, isWeak);
                member.pump().add(gathered);
                return new SegmentMap(length, null, segment, memory, gathered);
            }
            return new SegmentMap(
                    length,
                    null,
                    segment,
                    segment.targets().getFirst().map(offset, length, isWritable(flags)),
                    null);
        } catch (FabricException e) {
            throw Refusal.of(e);
        }
    }

    private static void checkFlags(int flags, int possible) {
        Refusal.when((flags & OTHER_FLAGS) != 0, sisci_h.SCI_ERR_FLAG_NOT_IMPLEMENTED());
        Refusal.when((flags & ~possible) != 0, sisci_h.SCI_ERR_ILLEGAL_FLAG());
    }

    private static void checkRange(long offset, long length, long available) {
        Refusal.when(
                offset < 0 || length < 0 || length > available || offset > available - length,
                sisci_h.SCI_ERR_OUT_OF_RANGE());
        Refusal.when(length == 0, sisci_h.SCI_ERR_SIZE_ALIGNMENT());
        Refusal.when(!Mapping.isAtPage(offset), sisci_h.SCI_ERR_OFFSET_ALIGNMENT());
    }

    private static boolean isWritable(int flags) {
        return !OwnSegment.has(flags, sisci_h.SCI_FLAG_READONLY_MAP());
    }

    /** Where it is. */
    public long address() {
        return mapping.address();
    }

    /** How long it is. */
    public long bytes() {
        return bytes;
    }

    /** Whether loads and stores stay within this node. */
    public boolean isLocal() {
        return remote == null || remote.isLoopback();
    }

    @Nullable RemoteSegment remote() {
        return remote;
    }

    /** Copies memory of this process to it; at the peer it is after the next drain. */
    public void copyFrom(long source, long offset, long length) {
        if (gathered == null) {
            AddressSpace.copy(source, mapping.address() + offset, length);
        } else {
            gathered.copyFrom(Downcalls.memoryAt(MemorySegment.ofAddress(source), length), offset);
        }
    }

    /** What was stored before is at the peer afterwards. */
    public void drain() {
        if (gathered != null) {
            gathered.drain();
        }
    }

    /** The segment has gone. */
    void cut() throws FabricException {
        mapping.cut();
    }

    synchronized boolean isUnmapped() {
        return unmapped;
    }

    synchronized void addSequence() {
        Refusal.when(unmapped, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        sequences++;
    }

    synchronized void removeSequence() {
        sequences--;
    }

    /** Ends it. In C: {@code SCIUnmapSegment}. */
    public void unmap() {
        synchronized (this) {
            Refusal.when(unmapped, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
            Refusal.when(sequences > 0, sisci_h.SCI_ERR_BUSY());
            unmapped = true;
        }
        if (local != null) {
            mapping.close();
            local.release();
        }
        if (remote != null) {
            if (gathered != null) {
                remote.member().pump().remove(gathered);
                mapping.close();
            } else {
                remote.unmap(mapping);
            }
            remote.member().giveWindow(bytes);
            remote.release();
        }
    }
}
