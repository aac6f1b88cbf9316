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

/** Calls the functions of libsisci for DMA queues and channels. */
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

    public DmaFunctions(SisciLibrary library) {
        this.library = library;
    }

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

    /** Removes a queue. Fails with an error while a transfer is running. */
    public void removeQueue(MemorySegment queue, Object subject) throws SisciException {
        library.run("SCIRemoveDMAQueue", queue, 0, subject);
    }

    public void abortQueue(MemorySegment queue, Object subject) throws SisciException {
        library.run("SCIAbortDMAQueue", queue, 0, subject);
    }

    /** Returns the state of the last transfer, without blocking. */
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
                            Callbacks.orNull(Callbacks.status(), listener),
                            MemorySegment.ofAddress(listener),
                            flags | library.callbackFlag(listener),
                            error);
                });
    }

    /** Starts a transfer between memory of this process and a segment, like {@link #start}. */
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
                flags
                        | library.callbackFlag(listener)
                        | library.number(SisciConstant.SCI_FLAG_DMA_USER_MEM);
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
                            Callbacks.orNull(Callbacks.status(), listener),
                            MemorySegment.ofAddress(listener),
                            allFlags,
                            error);
                });
    }

    /** Starts a transfer of several pieces between two segments, like {@link #start}. */
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
                            Callbacks.orNull(Callbacks.status(), listener),
                            MemorySegment.ofAddress(listener),
                            flags | library.callbackFlag(listener),
                            error);
                });
    }

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

    public void returnChannel(MemorySegment channel, Object subject) throws SisciException {
        library.run(
                "SCIReturnDMAChannel",
                subject,
                (function, _, error) -> {
                    RETURN_CHANNEL.invokeExact(function, segment(), channel, error);
                });
    }

    /** The operations that relate a channel to a queue or segment, each with its C function. */
    public enum ChannelUse {
        ASSIGN("SCIAssignDMAChannel"),
        PREPARE_LOCAL("SCIPrepareLocalSegmentForDMA"),
        PREPARE_REMOTE("SCIPrepareRemoteSegmentForDMA"),
        UNPREPARE_LOCAL("SCIUnprepareLocalSegmentForDMA"),
        UNPREPARE_REMOTE("SCIUnprepareRemoteSegmentForDMA");

        private final String function;

        ChannelUse(String function) {
            this.function = function;
        }
    }

    /**
     * Calls the C function of a channel operation on a queue or segment. All of these functions
     * have the same signature.
     */
    public void use(MemorySegment channel, ChannelUse use, MemorySegment object, Object subject)
            throws SisciException {
        library.run(
                use.function,
                subject,
                (function, _, error) -> {
                    OF_CHANNEL.invokeExact(function, segment(), channel, object, 0, error);
                });
    }
}
