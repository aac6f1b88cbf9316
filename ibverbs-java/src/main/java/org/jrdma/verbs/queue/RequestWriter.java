package org.jrdma.verbs.queue;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jrdma.verbs.handle.MemoryRegistration;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.internal.VerbsEnumCodes;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.RemoteMemory;

/** Sets parts of work requests, and rejects values that the peer would reject. */
public final class RequestWriter {

    private static final int ATOMIC_BYTES = Long.BYTES;

    /** The maximum length of a flush, which has 32 bits in the packet. */
    private static final long MAX_FLUSH_BYTES = 0xffff_ffffL;

    private RequestWriter() {}

    /** Sets the memory slices of a work request. */
    public static void slices(WorkRequest request, List<MemorySlice> slices) {
        for (var index = 0; index < slices.size(); index++) {
            var slice = slices.get(index);
            var region = slice.region();
            request.element(
                    index,
                    region.startAddress() + slice.offset(),
                    slice.length(),
                    region.localKey());
        }
        request.elements(slices.size());
    }

    /** Returns the total length of the slices in bytes. */
    public static long totalLength(List<MemorySlice> slices) {
        var bytes = 0L;
        for (var index = 0; index < slices.size(); index++) {
            bytes += slices.get(index).length();
        }
        return bytes;
    }

    /** Returns true if the address of each slice in requests equals its virtual address. */
    public static boolean areInPlace(List<MemorySlice> slices) {
        for (var index = 0; index < slices.size(); index++) {
            if (!MemoryPackageInternals.get()
                    .registration(slices.get(index).region())
                    .isInPlace()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Checks that a range is within remote memory.
     *
     * @throws IndexOutOfBoundsException if the range exceeds the memory
     */
    public static void checkRange(long offset, long length, RemoteMemory remote) {
        Objects.checkFromIndexSize(offset, length, remote.length());
    }

    /** Checks that the local memory for the result of an atomic operation has 8 bytes. */
    public static void checkAtomicResult(long bytes) {
        if (bytes != ATOMIC_BYTES) {
            throw new IllegalArgumentException(
                    "The result of an atomic operation has 8 bytes, but the local memory has "
                            + bytes);
        }
    }

    /**
     * Checks that the 8 bytes that an atomic operation accesses are within the remote memory and
     * that their address is a multiple of 8.
     */
    public static void checkAtomicTarget(long offset, RemoteMemory remote) {
        checkRange(offset, ATOMIC_BYTES, remote);
        if ((remote.address() + offset) % ATOMIC_BYTES != 0) {
            throw new IllegalArgumentException(
                    "The remote address of an atomic operation must be a multiple of 8, but is 0x%x"
                            .formatted(remote.address() + offset));
        }
    }

    /** Sets the remote address of a request for an atomic operation. */
    public static void atomic(WorkRequest.Send request, RemoteMemory remote, long offset) {
        checkAtomicTarget(offset, remote);
        request.atomic(remote.address() + offset, remote.key());
    }

    /**
     * Returns the placements of a flush as a set.
     *
     * @throws IllegalArgumentException if there are no placements
     */
    public static Set<FlushPlacement> placements(FlushPlacement... requested) {
        var placements = EnumSet.noneOf(FlushPlacement.class);
        placements.addAll(Arrays.asList(requested));
        if (placements.isEmpty()) {
            throw new IllegalArgumentException(
                    "A flush requires a placement: GLOBAL, PERSISTENT or both");
        }
        return placements;
    }

    /** Sets the range of remote memory that a flush request covers. */
    public static void flushRange(
            WorkRequest.Send request,
            RemoteMemory remote,
            long offset,
            long length,
            Set<FlushPlacement> placements) {
        checkRange(offset, length, remote);
        if (length > MAX_FLUSH_BYTES) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A flush can cover at most %,d bytes or the whole region, but the range has %,d",
                            MAX_FLUSH_BYTES,
                            length));
        }
        request.flush(
                remote.address() + offset,
                remote.key(),
                (int) length,
                VerbsEnumCodes.FLUSH_PLACEMENT.bits(placements));
    }

    /** Sets a whole remote memory region as the memory that a flush request covers. */
    public static void flushRegion(
            WorkRequest.Send request, RemoteMemory remote, Set<FlushPlacement> placements) {
        request.flushRegion(
                remote.address(), remote.key(), VerbsEnumCodes.FLUSH_PLACEMENT.bits(placements));
    }

    /**
     * Sets the window of a bind request, the region to which the window grants access, and the
     * access rights of the peers.
     */
    public static void bind(
            WorkRequest.Send request,
            NativeWindow window,
            MemoryRegistration region,
            Set<Access> rights) {
        request.bind(window.address(), region.address(), VerbsEnumCodes.ACCESS.bits(rights));
    }
}
