package org.jrdma.soft.sisci.fabric;

import java.util.HashSet;
import java.util.Set;
import org.jrdma.abi.sisci.sisci_h;
import org.jspecify.annotations.Nullable;

/**
 * A part of a DMA engine that a program has for itself, or shares. Here a transfer takes no other
 * way for it; it is kept in order as hardware's would have to be. In C: {@code sci_dma_channel_t}.
 */
public final class DmaChannel {

    /** The number of channels of an engine. */
    public static final int NUMBER = DmaChannelAllocator.CHANNELS;

    private final Descriptor descriptor;
    private final DmaChannelAllocator.Taken taken;
    private final Set<Object> prepared = new HashSet<>();
    private @Nullable DmaQueue queue;

    private DmaChannel(Descriptor descriptor, DmaChannelAllocator.Taken taken) {
        this.descriptor = descriptor;
        this.taken = taken;
    }

    /** Takes one. In C: {@code SCIRequestDMAChannel}. */
    public static DmaChannel request(
            Descriptor descriptor, int adapter, int type, int number, int flags) {
        SciException.throwIf(
                (flags & ~sisci_h.SCI_FLAG_DMA_CHANNEL_SHARED()) != 0,
                sisci_h.SCI_ERR_ILLEGAL_FLAG());
        descriptor.context().topology().checkAdapter(adapter);
        SciException.throwIf(
                type < sisci_h.SCI_DMA_TYPE_DONTCARE() || type > sisci_h.SCI_DMA_TYPE_TRANSPARENT(),
                sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        SciException.throwIf(
                number != sisci_h.SCI_DMA_CHANNEL_ID_DONTCARE()
                        && Integer.compareUnsigned(number, NUMBER) >= 0,
                sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        var taken = descriptor.context().channels().take(adapter, type, number, flags != 0);
        try {
            descriptor.add();
        } catch (SciException e) {
            descriptor.context().channels().giveBack(taken);
            throw e;
        }
        return new DmaChannel(descriptor, taken);
    }

    /** Lets a queue's transfers go this way. In C: {@code SCIAssignDMAChannel}. */
    public synchronized void assign(DmaQueue newQueue) {
        SciException.throwIf(queue != null, sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        queue = newQueue;
    }

    /** Prepares a segment. In C: {@code SCIPrepareLocalSegmentForDMA}, and of remote ones. */
    public synchronized void prepare(Object segment) {
        SciException.throwIf(!prepared.add(segment), sisci_h.SCI_ERR_ILLEGAL_OPERATION());
    }

    /** Undoes that. */
    public synchronized void unprepare(Object segment) {
        SciException.throwIf(!prepared.remove(segment), sisci_h.SCI_ERR_ILLEGAL_OPERATION());
    }

    /** Gives it back. In C: {@code SCIReturnDMAChannel}. */
    public synchronized void giveBack() {
        SciException.throwIf(!prepared.isEmpty(), sisci_h.SCI_ERR_BUSY());
        descriptor.context().channels().giveBack(taken);
        descriptor.remove();
    }
}
