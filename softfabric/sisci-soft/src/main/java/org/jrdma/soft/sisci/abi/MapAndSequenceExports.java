package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jrdma.soft.sisci.fabric.FlagChecks;
import org.jrdma.soft.sisci.fabric.LocalSegment;
import org.jrdma.soft.sisci.fabric.RemoteSegment;
import org.jrdma.soft.sisci.fabric.SegmentMap;
import org.jrdma.soft.sisci.fabric.Sequence;
import org.jrdma.soft.sisci.fabric.UnpublishedFlags;

/**
 * The functions for maps, sequences, flushes and copies. Checks of sequences, barriers and flushes
 * are on the hot path and allocate no memory, except for maps with a write buffer.
 */
final class MapAndSequenceExports extends AbstractExports {

    MapAndSequenceExports(SoftSisciLibrary library) {
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
        return register(map, handles.object(segment, LocalSegment.class).map(offset, bytes, flags));
    }

    @Exported("SCIMapRemoteSegment")
    long mapRemote(
            long segment,
            long map,
            long offset,
            long bytes,
            @SuppressWarnings("unused") long address,
            int flags) {
        return register(
                map, handles.object(segment, RemoteSegment.class).map(offset, bytes, flags));
    }

    private long register(long place, SegmentMap map) {
        if (place == 0) {
            map.unmap();
        }
        ProgramMemory.setLong(place, handles.add(map));
        return map.address();
    }

    @Exported("SCIUnmapSegment")
    void unmap(long map, int flags) {
        FlagChecks.checkNone(flags);
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
        var _ = handles.create(sequence, _ -> Sequence.create(map(map), flags));
    }

    @Exported("SCIRemoveSequence")
    void removeSequence(long sequence, int flags) {
        FlagChecks.checkNone(flags);
        sequence(sequence).remove();
        handles.release(sequence);
    }

    @Exported("SCIStartSequence")
    int start(long sequence, int flags) {
        FlagChecks.checkNone(flags);
        return sequence(sequence).start();
    }

    @Exported("SCICheckSequence")
    int check(long sequence, int flags) {
        FlagChecks.checkAllowed(
                flags, UnpublishedFlags.NO_FLUSH | UnpublishedFlags.NO_STORE_BARRIER);
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

    /**
     * Delivers the buffered stores of the map that a sequence belongs to. If the sequence is NULL,
     * delivers those of all maps of this process.
     */
    private void drain(long sequence) {
        if (sequence == 0) {
            library.process().flush();
        } else {
            sequence(sequence).map().flush();
        }
    }

    @Exported("SCIMemCpy")
    void copy(long sequence, long memory, long map, long offset, long bytes, int flags) {
        FlagChecks.checkAllowed(flags, UnpublishedFlags.BLOCK_READ | UnpublishedFlags.ERROR_CHECK);
        var mapped = map(map);
        var checked = (flags & UnpublishedFlags.ERROR_CHECK) == UnpublishedFlags.ERROR_CHECK;
        throwIf(memory == 0 || (checked && sequence == 0), SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(
                offset < 0
                        || bytes < 0
                        || bytes > mapped.bytes()
                        || offset > mapped.bytes() - bytes,
                SCI_ERR_OUT_OF_RANGE());
        if ((flags & UnpublishedFlags.BLOCK_READ) == UnpublishedFlags.BLOCK_READ) {
            UncheckedMemory.copy(mapped.address() + offset, memory, bytes);
        } else {
            mapped.copyFrom(memory, offset, bytes);
            mapped.flush();
        }
        if (checked) {
            throwIf(sequence(sequence).check(0) != SCI_SEQ_OK(), SCI_ERR_TRANSFER_FAILED());
        }
    }

    @Exported("SCIMemWrite")
    void write(long memory, long remote, long bytes, int flags) {
        FlagChecks.checkNone(flags);
        throwIf(memory == 0 || remote == 0, SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(bytes < 0, SCI_ERR_OUT_OF_RANGE());
        UncheckedMemory.copy(memory, remote, bytes);
        library.process().flush();
    }

    /**
     * Implements {@code SCICacheSync}. Only checks the arguments, because the maps are shared
     * memory and need no cache maintenance.
     */
    @Exported("SCICacheSync")
    void syncCache(long map, long address, long bytes, int flags) {
        FlagChecks.checkAllowed(flags, SCI_FLAG_CACHE_FLUSH() | SCI_FLAG_CACHE_INVALIDATE());
        var mapped = map(map);
        throwIf(
                address < mapped.address()
                        || bytes < 0
                        || address - mapped.address() > mapped.bytes() - bytes,
                SCI_ERR_OUT_OF_RANGE());
    }
}
