package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.Constant;
import org.jrdma.sisci.internal.SisciFunctions;
import org.jrdma.sisci.model.DmaPiece;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link DmaQueue} is to move: between a segment of this node, prepared, or memory of this
 * process, and a segment of another. A push goes to the other node, a pull comes from there.
 * Immutable.
 */
public final class DmaTransfer {

    private final String name;
    private final @Nullable LocalSegment local;
    private final RemoteSegment remote;
    private final boolean pulls;
    private final Start start;
    private final DmaEngine engine;
    private final boolean toGroup;

    private DmaTransfer(
            String name,
            @Nullable LocalSegment local,
            RemoteSegment remote,
            boolean pulls,
            Start start,
            DmaEngine engine,
            boolean toGroup) {
        this.name = name;
        this.local = local;
        this.remote = remote;
        this.pulls = pulls;
        this.start = start;
        this.engine = engine;
        this.toGroup = toGroup;
    }

    /** The function of C's that starts a transfer, with all that it needs but the queue. */
    private interface Start {
        void start(SisciFunctions functions, MemorySegment queue, long listener, int flags)
                throws SisciException;
    }

    /** Moves bytes of a segment to the other node. In C: {@code SCIStartDmaTransfer}. */
    public static DmaTransfer push(
            LocalSegment local,
            long localOffset,
            RemoteSegment remote,
            long remoteOffset,
            long bytes) {
        return between(local, localOffset, remote, remoteOffset, bytes, false);
    }

    /** Moves bytes of the other node into a segment. In C: {@code SCIStartDmaTransfer}. */
    public static DmaTransfer pull(
            LocalSegment local,
            long localOffset,
            RemoteSegment remote,
            long remoteOffset,
            long bytes) {
        return between(local, localOffset, remote, remoteOffset, bytes, true);
    }

    private static DmaTransfer between(
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
                            "%,d bytes from %,d to %,d",
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

    /** Moves pieces of a segment to the other node. In C: {@code SCIStartDmaTransferVec}. */
    public static DmaTransfer pushPieces(
            LocalSegment local, RemoteSegment remote, List<DmaPiece> pieces) {
        return vector(local, remote, pieces, false);
    }

    /** Moves pieces of the other node into a segment. In C: {@code SCIStartDmaTransferVec}. */
    public static DmaTransfer pullPieces(
            LocalSegment local, RemoteSegment remote, List<DmaPiece> pieces) {
        return vector(local, remote, pieces, true);
    }

    private static DmaTransfer vector(
            LocalSegment local, RemoteSegment remote, List<DmaPiece> pieces, boolean pulls) {
        var copy = List.copyOf(pieces);
        if (copy.isEmpty()) {
            throw new IllegalArgumentException("A transfer has at least one piece");
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
     * Moves memory of the caller's to the other node. The caller answers for it: it must be native
     * and stay allocated until the transfer has ended. In C: {@code SCIStartDmaTransferMem}.
     */
    public static DmaTransfer pushForeign(
            MemorySegment memory, RemoteSegment remote, long remoteOffset) {
        return foreign(memory, remote, remoteOffset, false);
    }

    /**
     * Moves bytes of the other node into memory of the caller's, who answers for it, as with {@link
     * #pushForeign}. In C: {@code SCIStartDmaTransferMem}.
     */
    public static DmaTransfer pullForeign(
            MemorySegment memory, RemoteSegment remote, long remoteOffset) {
        if (memory.isReadOnly()) {
            throw new IllegalArgumentException("The memory is read-only");
        }
        return foreign(memory, remote, remoteOffset, true);
    }

    private static DmaTransfer foreign(
            MemorySegment memory, RemoteSegment remote, long remoteOffset, boolean pulls) {
        if (!memory.isNative() || memory.byteSize() == 0 || remoteOffset < 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "%s cannot be moved to or from %,d",
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

    private static DmaTransfer of(
            String name,
            @Nullable LocalSegment local,
            RemoteSegment remote,
            boolean pulls,
            Start start) {
        return new DmaTransfer(name, local, remote, pulls, start, DmaEngine.ANY, false);
    }

    /** The same by a certain engine. */
    public DmaTransfer by(DmaEngine other) {
        return new DmaTransfer(name, local, remote, pulls, start, other, toGroup);
    }

    /** The same to all members of a multicast group. In C: {@code SCI_FLAG_BROADCAST}. */
    public DmaTransfer toGroup() {
        return new DmaTransfer(name, local, remote, pulls, start, engine, true);
    }

    /** What is in use as long as it lasts. */
    Stream<Lifetime> lifetimes() {
        return Stream.of(local, remote).filter(Objects::nonNull).map(SisciObject::ownLifetime);
    }

    /** A handle of one library must not get into another. */
    void checkLibrary(SisciFunctions functions, String queue) {
        remote.checkLibrary(functions, queue);
        if (local != null) {
            local.checkLibrary(functions, queue);
        }
    }

    /** The queue must be held. */
    void start(SisciFunctions functions, MemorySegment queue, long listener) throws SisciException {
        var library = functions.library();
        var flags =
                engine.flags(library)
                        | (pulls ? library.number(Constant.SCI_FLAG_DMA_READ) : 0)
                        | (toGroup ? library.number(Constant.SCI_FLAG_BROADCAST) : 0);
        remote.whileOpen(() -> start.start(functions, queue, listener, flags));
    }

    /** What it moves, and how. */
    @Override
    public String toString() {
        return "%s of %s %s %s"
                .formatted(pulls ? "pull" : "push", name, pulls ? "from" : "to", remote);
    }
}
