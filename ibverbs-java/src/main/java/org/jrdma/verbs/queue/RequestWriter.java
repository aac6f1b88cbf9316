package org.jrdma.verbs.queue;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jrdma.verbs.handle.NativeWindow;
import org.jrdma.verbs.handle.Registration;
import org.jrdma.verbs.internal.Codes;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.access.MemoryAccess;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.FlushPlacement;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * Writes the parts of work requests for both tiers, and checks what a peer could only answer with
 * an error.
 */
public final class RequestWriter {

    private static final int ATOMIC_BYTES = Long.BYTES;

    /** The length of a flush has 32 bits on the wire. */
    private static final long MOST_FLUSHED = 0xffff_ffffL;

    private RequestWriter() {}

    /** Names pieces of memory. */
    public static void pieces(WorkRequest request, List<MemorySlice> pieces) {
        for (var index = 0; index < pieces.size(); index++) {
            var piece = pieces.get(index);
            var region = piece.region();
            request.element(
                    index,
                    region.startAddress() + piece.offset(),
                    piece.length(),
                    region.localKey());
        }
        request.elements(pieces.size());
    }

    /** The sum of the lengths of pieces. */
    public static long totalLength(List<MemorySlice> pieces) {
        var bytes = 0L;
        for (var index = 0; index < pieces.size(); index++) {
            bytes += pieces.get(index).length();
        }
        return bytes;
    }

    /** Whether requests name all pieces by their own addresses, so that they can be read there. */
    public static boolean areInPlace(List<MemorySlice> pieces) {
        for (var index = 0; index < pieces.size(); index++) {
            if (!MemoryAccess.get().registration(pieces.get(index).region()).isInPlace()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Checks that a range is within the memory of a peer.
     *
     * @throws IndexOutOfBoundsException if it is not
     */
    public static void checkRange(long offset, long length, RemoteMemory remote) {
        Objects.checkFromIndexSize(offset, length, remote.length());
    }

    /** Checks the length of the memory that the former value of an atomic is written to. */
    public static void checkAtomicResult(long bytes) {
        if (bytes != ATOMIC_BYTES) {
            throw new IllegalArgumentException("An atomic brings 8 bytes back, not " + bytes);
        }
    }

    /** Checks the place of the 8 bytes that an atomic works on. */
    public static void checkAtomicTarget(long offset, RemoteMemory remote) {
        checkRange(offset, ATOMIC_BYTES, remote);
        if ((remote.address() + offset) % ATOMIC_BYTES != 0) {
            throw new IllegalArgumentException(
                    "An atomic works on 8 bytes at a multiple of 8, not at %x"
                            .formatted(remote.address() + offset));
        }
    }

    /** Names the 8 bytes of a peer that an atomic works on. */
    public static void atomic(WorkRequest.Send request, RemoteMemory remote, long offset) {
        checkAtomicTarget(offset, remote);
        request.atomic(remote.address() + offset, remote.key());
    }

    /** The placements of a flush. */
    public static Set<FlushPlacement> placements(FlushPlacement... asked) {
        var placements = EnumSet.noneOf(FlushPlacement.class);
        placements.addAll(Arrays.asList(asked));
        if (placements.isEmpty()) {
            throw new IllegalArgumentException(
                    "A flush goes somewhere: GLOBAL, PERSISTENT or both");
        }
        return placements;
    }

    /** Names a range of the memory of a peer to be flushed. */
    public static void flushRange(
            WorkRequest.Send request,
            RemoteMemory remote,
            long offset,
            long length,
            Set<FlushPlacement> placements) {
        checkRange(offset, length, remote);
        if (length > MOST_FLUSHED) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A flush is of %,d bytes at most, or of the whole region, not of %,d",
                            MOST_FLUSHED,
                            length));
        }
        request.flush(
                remote.address() + offset,
                remote.key(),
                (int) length,
                Codes.FLUSH_PLACEMENT.bits(placements));
    }

    /** Names the region of a peer that is flushed as a whole. */
    public static void flushRegion(
            WorkRequest.Send request, RemoteMemory remote, Set<FlushPlacement> placements) {
        request.flushRegion(remote.address(), remote.key(), Codes.FLUSH_PLACEMENT.bits(placements));
    }

    /** Names a window, the region that it shows, and the access rights of peers. */
    public static void bind(
            WorkRequest.Send request,
            NativeWindow window,
            Registration region,
            Set<Access> rights) {
        request.bind(window.address(), region.address(), Codes.ACCESS.bits(rights));
    }
}
