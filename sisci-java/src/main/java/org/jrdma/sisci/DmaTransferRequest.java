package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.SisciConstant;
import org.jrdma.sisci.internal.SisciFunctionGroups;
import org.jrdma.sisci.model.DmaPiece;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * A transfer for a {@link DmaQueue}, between a remote segment and either a prepared local segment
 * or memory of this process. A transfer to the remote segment is a push, a transfer from the remote
 * segment a pull. Immutable.
 */
@CheckReturnValue
public final class DmaTransferRequest {

    private final String name;
    private final @Nullable LocalSegment local;
    private final RemoteSegment remote;
    private final boolean pulls;
    private final Start start;
    private final DmaEngineKind engine;
    private final boolean toGroup;

    private DmaTransferRequest(
            String name,
            @Nullable LocalSegment local,
            RemoteSegment remote,
            boolean pulls,
            Start start,
            DmaEngineKind engine,
            boolean toGroup) {
        this.name = name;
        this.local = local;
        this.remote = remote;
        this.pulls = pulls;
        this.start = start;
        this.engine = engine;
        this.toGroup = toGroup;
    }

    /**
     * Calls the C function that starts a transfer. The lambda contains those arguments that are not
     * parameters of this method.
     */
    private interface Start {
        void start(SisciFunctionGroups functions, MemorySegment queue, long listener, int flags)
                throws SisciException;
    }

    /**
     * Returns a transfer from a prepared local segment to a remote segment. In C: {@code
     * SCIStartDmaTransfer}.
     */
    public static DmaTransferRequest push(
            LocalSegment local,
            long localOffset,
            RemoteSegment remote,
            long remoteOffset,
            long bytes) {
        return segments(local, localOffset, remote, remoteOffset, bytes, false);
    }

    /**
     * Returns a transfer from a remote segment to a prepared local segment. In C: {@code
     * SCIStartDmaTransfer}.
     */
    public static DmaTransferRequest pull(
            LocalSegment local,
            long localOffset,
            RemoteSegment remote,
            long remoteOffset,
            long bytes) {
        return segments(local, localOffset, remote, remoteOffset, bytes, true);
    }

    private static DmaTransferRequest segments(
            LocalSegment local,
            long localOffset,
            RemoteSegment remote,
            long remoteOffset,
            long bytes,
            boolean pulls) {
        if (localOffset < 0 || remoteOffset < 0 || bytes <= 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "Invalid DMA transfer: %,d bytes, local offset %,d, remote offset %,d",
                            bytes,
                            localOffset,
                            remoteOffset));
        }
        var name = String.format(Locale.ROOT, "%,d bytes", bytes);
        return of(
                name,
                local,
                remote,
                pulls,
                (functions, queue, listener, flags) ->
                        local.whileOpen(() ->
                                functions
                                        .dma()
                                        .start(
                                                queue,
                                                local.address(),
                                                localOffset,
                                                remote.address(),
                                                remoteOffset,
                                                bytes,
                                                listener,
                                                flags,
                                                name)));
    }

    /**
     * Returns a transfer of several pieces from a prepared local segment to a remote segment. In C:
     * {@code SCIStartDmaTransferVec}.
     */
    public static DmaTransferRequest pushPieces(
            LocalSegment local, RemoteSegment remote, List<DmaPiece> pieces) {
        return vector(local, remote, pieces, false);
    }

    /**
     * Returns a transfer of several pieces from a remote segment to a prepared local segment. In C:
     * {@code SCIStartDmaTransferVec}.
     */
    public static DmaTransferRequest pullPieces(
            LocalSegment local, RemoteSegment remote, List<DmaPiece> pieces) {
        return vector(local, remote, pieces, true);
    }

    private static DmaTransferRequest vector(
            LocalSegment local, RemoteSegment remote, List<DmaPiece> pieces, boolean pulls) {
        var copy = List.copyOf(pieces);
        if (copy.isEmpty()) {
            throw new IllegalArgumentException("Cannot create a DMA transfer without pieces");
        }
        var name = copy.size() + " pieces";
        return of(
                name,
                local,
                remote,
                pulls,
                (functions, queue, listener, flags) ->
                        local.whileOpen(() ->
                                functions
                                        .dma()
                                        .startVector(
                                                queue,
                                                local.address(),
                                                remote.address(),
                                                copy,
                                                listener,
                                                flags,
                                                name)));
    }

    /**
     * Returns a transfer from the caller's memory to a remote segment. The caller is responsible
     * for the memory: it must be native and stay allocated until the transfer has ended. In C:
     * {@code SCIStartDmaTransferMem}.
     */
    public static DmaTransferRequest pushForeign(
            MemorySegment memory, RemoteSegment remote, long remoteOffset) {
        return foreign(memory, remote, remoteOffset, false);
    }

    /**
     * Returns a transfer from a remote segment to the caller's memory. The caller is responsible
     * for the memory, as with {@link #pushForeign}. In C: {@code SCIStartDmaTransferMem}.
     */
    public static DmaTransferRequest pullForeign(
            MemorySegment memory, RemoteSegment remote, long remoteOffset) {
        if (memory.isReadOnly()) {
            throw new IllegalArgumentException("Cannot transfer data into read-only memory");
        }
        return foreign(memory, remote, remoteOffset, true);
    }

    private static DmaTransferRequest foreign(
            MemorySegment memory, RemoteSegment remote, long remoteOffset, boolean pulls) {
        if (!memory.isNative() || memory.byteSize() == 0 || remoteOffset < 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "Invalid DMA transfer between %s and remote offset %,d. The memory must"
                                    + " be native and not empty.",
                            memory,
                            remoteOffset));
        }
        var name = String.format(Locale.ROOT, "%,d bytes of memory", memory.byteSize());
        return of(
                name,
                null,
                remote,
                pulls,
                (functions, queue, listener, flags) ->
                        functions
                                .dma()
                                .startMemory(
                                        queue,
                                        memory,
                                        remote.address(),
                                        remoteOffset,
                                        listener,
                                        flags,
                                        name));
    }

    private static DmaTransferRequest of(
            String name,
            @Nullable LocalSegment local,
            RemoteSegment remote,
            boolean pulls,
            Start start) {
        return new DmaTransferRequest(name, local, remote, pulls, start, DmaEngineKind.ANY, false);
    }

    /** Returns a copy of this transfer that the given engine executes. */
    public DmaTransferRequest withEngine(DmaEngineKind other) {
        Objects.requireNonNull(other);
        return new DmaTransferRequest(name, local, remote, pulls, start, other, toGroup);
    }

    /**
     * Returns a copy of this transfer whose target is all members of a multicast group. In C:
     * {@code SCI_FLAG_BROADCAST}.
     */
    public DmaTransferRequest toGroup() {
        return new DmaTransferRequest(name, local, remote, pulls, start, engine, true);
    }

    /**
     * Returns the lifetimes of the segments that this transfer uses, so that their close can abort
     * the transfer.
     */
    Stream<Lifetime> lifetimes() {
        return Stream.of(local, remote).filter(Objects::nonNull).map(SisciObject::ownLifetime);
    }

    /** Checks that the segments belong to the same library as the queue. */
    void checkLibrary(SisciFunctionGroups functions, String queue) {
        remote.checkLibrary(functions, queue);
        if (local != null) {
            local.checkLibrary(functions, queue);
        }
    }

    /**
     * Starts this transfer. The caller must {@linkplain Lifetime#hold hold} the lifetime of the
     * queue.
     */
    void start(SisciFunctionGroups functions, MemorySegment queue, long listener)
            throws SisciException {
        var library = functions.library();
        var flags =
                engine.flags(library)
                        | (pulls ? library.number(SisciConstant.SCI_FLAG_DMA_READ) : 0)
                        | (toGroup ? library.number(SisciConstant.SCI_FLAG_BROADCAST) : 0);
        remote.whileOpen(() -> start.start(functions, queue, listener, flags));
    }

    /** Returns the direction, the size and the remote segment of this transfer. */
    @Override
    public String toString() {
        return "%s of %s %s %s"
                .formatted(pulls ? "pull" : "push", name, pulls ? "from" : "to", remote);
    }
}
