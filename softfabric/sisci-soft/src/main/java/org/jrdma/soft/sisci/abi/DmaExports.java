package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.abi.sisci.dis_dma_vec_t;
import org.jrdma.soft.sisci.fabric.DmaChannel;
import org.jrdma.soft.sisci.fabric.DmaQueue;
import org.jrdma.soft.sisci.fabric.FlagChecks;
import org.jrdma.soft.sisci.fabric.LocalSegment;
import org.jrdma.soft.sisci.fabric.RemoteSegment;

/** The functions for DMA queues and channels. */
final class DmaExports extends AbstractExports {

    DmaExports(SoftSisciLibrary library) {
        super(library);
    }

    private DmaQueue queue(long handle) {
        return handles.object(handle, DmaQueue.class);
    }

    private DmaChannel channel(long handle) {
        return handles.object(handle, DmaChannel.class);
    }

    @Exported("SCICreateDMAQueue")
    void create(long descriptor, long queue, int adapter, int maxEntries, int flags) {
        FlagChecks.checkNone(flags);
        var owner = descriptor(descriptor);
        var _ = handles.create(queue, _ -> DmaQueue.create(owner, adapter, maxEntries));
    }

    @Exported("SCIRemoveDMAQueue")
    void remove(long queue, int flags) {
        FlagChecks.checkNone(flags);
        queue(queue).remove();
        handles.release(queue);
    }

    @Exported("SCIAbortDMAQueue")
    void abort(long queue, int flags) {
        FlagChecks.checkNone(flags);
        queue(queue).abort();
    }

    @Exported(value = "SCIDMAQueueState", reports = false)
    int state(long queue) {
        return queue(queue).state();
    }

    @Exported("SCIWaitForDMAQueue")
    int await(long queue, int timeout, int flags) {
        FlagChecks.checkNone(flags);
        return queue(queue).await(timeout);
    }

    @Exported("SCIStartDmaTransfer")
    void start(
            long queue,
            long local,
            long remote,
            long localOffset,
            long bytes,
            long remoteOffset,
            long callback,
            long argument,
            int flags) {
        var pieces = List.of(new DmaQueue.Piece(localOffset, remoteOffset, bytes));
        start(queue, local, remote, pieces, callback, argument, flags);
    }

    private void start(
            long queue,
            long local,
            long remote,
            List<DmaQueue.Piece> pieces,
            long callback,
            long argument,
            int flags) {
        queue(queue)
                .start(
                        handles.object(local, LocalSegment.class),
                        handles.object(remote, RemoteSegment.class),
                        pieces,
                        ProgramCallbacks.ofDma(callback, argument, queue, flags),
                        flags);
    }

    @Exported("SCIStartDmaTransferMem")
    void startMemory(
            long queue,
            long address,
            long remote,
            long bytes,
            long remoteOffset,
            long callback,
            long argument,
            int flags) {
        queue(queue)
                .start(
                        address,
                        bytes,
                        handles.object(remote, RemoteSegment.class),
                        remoteOffset,
                        ProgramCallbacks.ofDma(callback, argument, queue, flags),
                        flags);
    }

    @Exported("SCIStartDmaTransferVec")
    void startVector(
            long queue,
            long local,
            long remote,
            long length,
            long vector,
            long callback,
            long argument,
            int flags) {
        throwIf(length <= 0 || length > DmaQueue.MAX_PIECES, SCI_ERR_MAX_ENTRIES());
        var elements = ProgramMemory.at(vector, length * dis_dma_vec_t.layout().byteSize());
        var pieces = new ArrayList<DmaQueue.Piece>();
        for (var i = 0; i < length; i++) {
            var element = dis_dma_vec_t.asSlice(elements, i);
            pieces.add(
                    new DmaQueue.Piece(
                            Integer.toUnsignedLong(dis_dma_vec_t.local_offset(element)),
                            Integer.toUnsignedLong(dis_dma_vec_t.remote_offset(element)),
                            Integer.toUnsignedLong(dis_dma_vec_t.size(element))));
        }
        start(queue, local, remote, pieces, callback, argument, flags);
    }

    @Exported("SCIRequestDMAChannel")
    void requestChannel(
            long descriptor, long channel, int adapter, int type, int number, int flags) {
        var owner = descriptor(descriptor);
        var _ =
                handles.create(
                        channel, _ -> DmaChannel.request(owner, adapter, type, number, flags));
    }

    @Exported("SCIReturnDMAChannel")
    void returnChannel(long channel) {
        channel(channel).release();
        handles.release(channel);
    }

    @Exported("SCIAssignDMAChannel")
    void assign(long channel, long queue, int flags) {
        FlagChecks.checkNone(flags);
        channel(channel).assign(queue(queue));
    }

    @Exported("SCIPrepareLocalSegmentForDMA")
    void prepareLocal(long channel, long segment, int flags) {
        FlagChecks.checkNone(flags);
        channel(channel).prepare(handles.object(segment, LocalSegment.class));
    }

    @Exported("SCIPrepareRemoteSegmentForDMA")
    void prepareRemote(long channel, long segment, int flags) {
        FlagChecks.checkNone(flags);
        channel(channel).prepare(handles.object(segment, RemoteSegment.class));
    }

    @Exported("SCIUnprepareLocalSegmentForDMA")
    void unprepareLocal(long channel, long segment, int flags) {
        FlagChecks.checkNone(flags);
        channel(channel).unprepare(handles.object(segment, LocalSegment.class));
    }

    @Exported("SCIUnprepareRemoteSegmentForDMA")
    void unprepareRemote(long channel, long segment, int flags) {
        FlagChecks.checkNone(flags);
        channel(channel).unprepare(handles.object(segment, RemoteSegment.class));
    }
}
