package org.jrdma.sisci.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.jrdma.abi.sisci.dis_dma_vec_t;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.sisci.model.DmaPiece;
import org.jrdma.sisci.model.DmaState;
import org.jrdma.sisci.model.SisciException;

/** DMA queues and channels. */
public final class DmaFunctions {

    private static final MethodHandle CREATE_QUEUE =
            capturingErrno(sisci_h.SCICreateDMAQueue$descriptor());
    private static final MethodHandle QUEUE_STATE =
            Downcalls.plain(sisci_h.SCIDMAQueueState$descriptor());
    private static final MethodHandle START =
            capturingErrno(sisci_h.SCIStartDmaTransfer$descriptor());
    private static final MethodHandle START_MEMORY =
            capturingErrno(sisci_h.SCIStartDmaTransferMem$descriptor());
    private static final MethodHandle START_VECTOR =
            capturingErrno(sisci_h.SCIStartDmaTransferVec$descriptor());
    private static final MethodHandle REQUEST_CHANNEL =
            capturingErrno(sisci_h.SCIRequestDMAChannel$descriptor());
    private static final MethodHandle RETURN_CHANNEL =
            capturingErrno(sisci_h.SCIReturnDMAChannel$descriptor());
    private static final MethodHandle OF_CHANNEL =
            capturingErrno(sisci_h.SCIAssignDMAChannel$descriptor());

    private final SisciLibrary library;

    /** The functions of a library. */
    public DmaFunctions(SisciLibrary library) {
        this.library = library;
    }

    /** Makes a queue. */
    public MemorySegment createQueue(
            MemorySegment node, int adapter, int maxEntries, Object subject) throws SisciException {
        return library.call(
                "SCICreateDMAQueue",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    CREATE_QUEUE.invokeExact(
                            function, segment(), node, handle, adapter, maxEntries, 0, error);
                    return handle.get(ADDRESS, 0);
                });
    }

    /** Refused while a transfer is under way. */
    public void removeQueue(MemorySegment queue, Object subject) throws SisciException {
        library.run("SCIRemoveDMAQueue", queue, 0, subject);
    }

    /** Ends the transfer under way. */
    public void abortQueue(MemorySegment queue, Object subject) throws SisciException {
        library.run("SCIAbortDMAQueue", queue, 0, subject);
    }

    /** The state of the last transfer. Never waits. */
    public DmaState state(MemorySegment queue) {
        var function = library.require("SCIDMAQueueState");
        int code = Downcalls.call(() -> (int) QUEUE_STATE.invokeExact(function, queue));
        if (code == sisci_h.SCI_DMAQUEUE_IDLE()) {
            return DmaState.IDLE;
        } else if (code == sisci_h.SCI_DMAQUEUE_POSTED()) {
            return DmaState.POSTED;
        } else if (code == sisci_h.SCI_DMAQUEUE_DONE()) {
            return DmaState.DONE;
        } else if (code == sisci_h.SCI_DMAQUEUE_ABORTED()) {
            return DmaState.ABORTED;
        } else if (code == sisci_h.SCI_DMAQUEUE_ERROR()) {
            return DmaState.ERROR;
        }
        return DmaState.UNKNOWN;
    }

    /**
     * Starts a transfer between segments.
     *
     * @param listener the key of a listener in {@link Callbacks}, or 0 for a queue that is polled
     */
    public void start(
            MemorySegment queue,
            MemorySegment local,
            long localOffset,
            MemorySegment remote,
            long remoteOffset,
            long bytes,
            long listener,
            int flags,
            Object subject)
            throws SisciException {
        library.run(
                "SCIStartDmaTransfer",
                subject,
                (function, _, error) -> {
                    START.invokeExact(
                            function,
                            segment(),
                            queue,
                            local,
                            remote,
                            localOffset,
                            bytes,
                            remoteOffset,
                            callback(listener),
                            MemorySegment.ofAddress(listener),
                            flags | callbackFlag(listener),
                            error);
                });
    }

    /** Starts a transfer between memory of this process and a segment; as {@link #start}. */
    public void startMemory(
            MemorySegment queue,
            MemorySegment memory,
            MemorySegment remote,
            long remoteOffset,
            long listener,
            int flags,
            Object subject)
            throws SisciException {
        var allFlags =
                flags | callbackFlag(listener) | library.number(Constant.SCI_FLAG_DMA_USER_MEM);
        library.run(
                "SCIStartDmaTransferMem",
                subject,
                (function, _, error) -> {
                    START_MEMORY.invokeExact(
                            function,
                            segment(),
                            queue,
                            memory,
                            remote,
                            memory.byteSize(),
                            remoteOffset,
                            callback(listener),
                            MemorySegment.ofAddress(listener),
                            allFlags,
                            error);
                });
    }

    /** Starts several transfers between the same segments; as {@link #start}. */
    public void startVector(
            MemorySegment queue,
            MemorySegment local,
            MemorySegment remote,
            List<DmaPiece> pieces,
            long listener,
            int flags,
            Object subject)
            throws SisciException {
        library.run(
                "SCIStartDmaTransferVec",
                subject,
                (function, arena, error) -> {
                    var vector = dis_dma_vec_t.allocateArray(pieces.size(), arena);
                    for (var index = 0; index < pieces.size(); index++) {
                        var element = dis_dma_vec_t.asSlice(vector, index);
                        var piece = pieces.get(index);
                        dis_dma_vec_t.size(element, (int) piece.bytes());
                        dis_dma_vec_t.local_offset(element, (int) piece.localOffset());
                        dis_dma_vec_t.remote_offset(element, (int) piece.remoteOffset());
                    }
                    START_VECTOR.invokeExact(
                            function,
                            segment(),
                            queue,
                            local,
                            remote,
                            (long) pieces.size(),
                            vector,
                            callback(listener),
                            MemorySegment.ofAddress(listener),
                            flags | callbackFlag(listener),
                            error);
                });
    }

    /** Takes a channel of an engine. */
    public MemorySegment requestChannel(
            MemorySegment node, int adapter, int type, int id, int flags, Object subject)
            throws SisciException {
        return library.call(
                "SCIRequestDMAChannel",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    REQUEST_CHANNEL.invokeExact(
                            function, segment(), node, handle, adapter, type, id, flags, error);
                    return handle.get(ADDRESS, 0);
                });
    }

    /** Gives it back. */
    public void returnChannel(MemorySegment channel, Object subject) throws SisciException {
        library.run(
                "SCIReturnDMAChannel",
                subject,
                (function, _, error) -> {
                    RETURN_CHANNEL.invokeExact(function, segment(), channel, error);
                });
    }

    /** What a channel can be given, each by a function of its own. */
    public enum ChannelUse {
        /** A queue. */
        ASSIGN("SCIAssignDMAChannel"),
        /** A segment of this node. */
        PREPARE_LOCAL("SCIPrepareLocalSegmentForDMA"),
        /** A segment of another node. */
        PREPARE_REMOTE("SCIPrepareRemoteSegmentForDMA"),
        /** A segment of this node, no more. */
        UNPREPARE_LOCAL("SCIUnprepareLocalSegmentForDMA"),
        /** A segment of another node, no more. */
        UNPREPARE_REMOTE("SCIUnprepareRemoteSegmentForDMA");

        private final String function;

        ChannelUse(String function) {
            this.function = function;
        }
    }

    /** Gives a channel a queue or a segment. All these functions have one shape. */
    public void use(MemorySegment channel, ChannelUse use, MemorySegment object, Object subject)
            throws SisciException {
        library.run(
                use.function,
                subject,
                (function, _, error) -> {
                    OF_CHANNEL.invokeExact(function, segment(), channel, object, 0, error);
                });
    }

    private static MemorySegment callback(long listener) {
        return listener == 0 ? MemorySegment.NULL : Callbacks.status();
    }

    private int callbackFlag(long listener) {
        return listener == 0 ? 0 : library.number(Constant.SCI_FLAG_USE_CALLBACK);
    }
}
