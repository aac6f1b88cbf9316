package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import org.jrdma.ffi.linkage.AddressSpace;
import org.jrdma.soft.sisci.fabric.Flags;
import org.jrdma.soft.sisci.fabric.LocalSegment;
import org.jrdma.soft.sisci.fabric.RemoteSegment;
import org.jrdma.soft.sisci.fabric.SegmentMap;
import org.jrdma.soft.sisci.fabric.Sequence;
import org.jrdma.soft.sisci.fabric.UnpublishedFlags;

/** Maps, and what sees to it that stores arrive. Nothing on the hot path allocates. */
final class MapExports extends Exports {

    MapExports(Library library) {
        super(library);
    }

    private SegmentMap map(long handle) {
        return handles.object(handle, SegmentMap.class);
    }

    private Sequence sequence(long handle) {
        return handles.object(handle, Sequence.class);
    }

    @Exported("SCIMapLocalSegment")
    long mapLocal(
            long segment,
            long map,
            long offset,
            long bytes,
            @SuppressWarnings("unused") long address,
            int flags) {
        return give(map, handles.object(segment, LocalSegment.class).map(offset, bytes, flags));
    }

    @Exported("SCIMapRemoteSegment")
    long mapRemote(
            long segment,
            long map,
            long offset,
            long bytes,
            @SuppressWarnings("unused") long address,
            int flags) {
        return give(map, handles.object(segment, RemoteSegment.class).map(offset, bytes, flags));
    }

    private long give(long place, SegmentMap made) {
        if (place == 0) {
            made.unmap();
        }
        Memory.setLong(place, handles.add(made));
        return made.address();
    }

    @Exported("SCIUnmapSegment")
    void unmap(long map, int flags) {
        Flags.checkNone(flags);
        map(map).unmap();
        handles.release(map);
    }

    @Exported(value = "SCIGetMapPointer", reports = false)
    long pointer(long map) {
        return map(map).address();
    }

    @Exported(value = "SCIGetMapPhysAddr", reports = false)
    long physicalAddress(long map) {
        return map(map).address();
    }

    @Exported("SCICreateMapSequence")
    void createSequence(long map, long sequence, int flags) {
        var _ = handles.make(sequence, _ -> Sequence.create(map(map), flags));
    }

    @Exported("SCIRemoveSequence")
    void removeSequence(long sequence, int flags) {
        Flags.checkNone(flags);
        sequence(sequence).remove();
        handles.release(sequence);
    }

    @Exported("SCIStartSequence")
    int start(long sequence, int flags) {
        Flags.checkNone(flags);
        return sequence(sequence).start();
    }

    @Exported("SCICheckSequence")
    int check(long sequence, int flags) {
        Flags.checkAllowed(flags, UnpublishedFlags.NO_FLUSH | UnpublishedFlags.NO_STORE_BARRIER);
        return sequence(sequence).check(flags);
    }

    @Exported(value = "SCIStoreBarrier", reports = false)
    void storeBarrier(long sequence, @SuppressWarnings("unused") int flags) {
        drain(sequence);
    }

    @Exported(value = "SCIFlush", reports = false)
    void flush(long sequence, @SuppressWarnings("unused") int flags) {
        drain(sequence);
    }

    /** NULL is for whatever this processor holds. */
    private void drain(long sequence) {
        if (sequence == 0) {
            library.member().flush();
        } else {
            sequence(sequence).map().flush();
        }
    }

    @Exported("SCIMemCpy")
    void copy(long sequence, long memory, long map, long offset, long bytes, int flags) {
        Flags.checkAllowed(flags, UnpublishedFlags.BLOCK_READ | UnpublishedFlags.ERROR_CHECK);
        var found = map(map);
        var checked = (flags & UnpublishedFlags.ERROR_CHECK) == UnpublishedFlags.ERROR_CHECK;
        throwIf(memory == 0 || (checked && sequence == 0), SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(
                offset < 0 || bytes < 0 || bytes > found.bytes() || offset > found.bytes() - bytes,
                SCI_ERR_OUT_OF_RANGE());
        if ((flags & UnpublishedFlags.BLOCK_READ) == UnpublishedFlags.BLOCK_READ) {
            AddressSpace.copy(found.address() + offset, memory, bytes);
        } else {
            found.copyFrom(memory, offset, bytes);
            found.flush();
        }
        if (checked) {
            throwIf(sequence(sequence).check(0) != SCI_SEQ_OK(), SCI_ERR_TRANSFER_FAILED());
        }
    }

    @Exported("SCIMemWrite")
    void write(long memory, long remote, long bytes, int flags) {
        Flags.checkNone(flags);
        throwIf(memory == 0 || remote == 0, SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(bytes < 0, SCI_ERR_OUT_OF_RANGE());
        AddressSpace.copy(memory, remote, bytes);
        library.member().flush();
    }

    /** For processors whose caches do not see the bus; this one's do. */
    @Exported("SCICacheSync")
    void syncCache(long map, long address, long bytes, int flags) {
        Flags.checkAllowed(flags, SCI_FLAG_CACHE_FLUSH() | SCI_FLAG_CACHE_INVALIDATE());
        var found = map(map);
        throwIf(
                address < found.address()
                        || bytes < 0
                        || address - found.address() > found.bytes() - bytes,
                SCI_ERR_OUT_OF_RANGE());
    }
}
