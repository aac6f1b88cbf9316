package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A channel of a DMA engine, exclusive or shared. It does not change how transfers are made; only
 * its state is checked as on hardware. In C: {@code sci_dma_channel_t}.
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

    /** Takes a channel. In C: {@code SCIRequestDMAChannel}. */
    public static DmaChannel request(
            Descriptor descriptor, int adapter, int type, int number, int flags) {
        Flags.checkAllowed(flags, SCI_FLAG_DMA_CHANNEL_SHARED());
        descriptor.context().topology().checkAdapter(adapter);
        throwIf(
                type < SCI_DMA_TYPE_DONTCARE() || type > SCI_DMA_TYPE_TRANSPARENT(),
                SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(
                number != SCI_DMA_CHANNEL_ID_DONTCARE()
                        && Integer.compareUnsigned(number, NUMBER) >= 0,
                SCI_ERR_ILLEGAL_PARAMETER());
        var channels = descriptor.context().channels();
        return descriptor.add(
                () -> new DmaChannel(descriptor, channels.take(adapter, type, number, flags != 0)));
    }

    /** Assigns a queue. In C: {@code SCIAssignDMAChannel}. */
    public synchronized void assign(DmaQueue newQueue) {
        throwIf(queue != null, SCI_ERR_ILLEGAL_OPERATION());
        queue = newQueue;
    }

    /** Prepares a segment. In C: {@code SCIPrepareLocalSegmentForDMA}, and of remote ones. */
    public synchronized void prepare(Object segment) {
        throwIf(!prepared.add(segment), SCI_ERR_ILLEGAL_OPERATION());
    }

    /** Ends the preparation of a segment. */
    public synchronized void unprepare(Object segment) {
        throwIf(!prepared.remove(segment), SCI_ERR_ILLEGAL_OPERATION());
    }

    /** Returns the channel. In C: {@code SCIReturnDMAChannel}. */
    public synchronized void giveBack() {
        throwIf(!prepared.isEmpty(), SCI_ERR_BUSY());
        descriptor.context().channels().giveBack(taken);
        descriptor.remove();
    }
}
