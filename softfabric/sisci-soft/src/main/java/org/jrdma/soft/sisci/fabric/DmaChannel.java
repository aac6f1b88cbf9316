package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A channel of a DMA engine, exclusive or shared. The software fabric checks the state of a channel
 * as hardware does; otherwise, a channel does not affect transfers. In C: {@code
 * sci_dma_channel_t}.
 */
public final class DmaChannel {

    /** The number of channels of an engine. */
    public static final int NUMBER = DmaChannelAllocator.CHANNELS;

    private final SciDescriptor descriptor;
    private final DmaChannelAllocator.Allocation allocation;
    private final Set<Object> prepared = new HashSet<>();
    private @Nullable DmaQueue queue;

    private DmaChannel(SciDescriptor descriptor, DmaChannelAllocator.Allocation allocation) {
        this.descriptor = descriptor;
        this.allocation = allocation;
    }

    public static DmaChannel request(
            SciDescriptor descriptor, int adapter, int type, int number, int flags) {
        FlagChecks.checkAllowed(flags, SCI_FLAG_DMA_CHANNEL_SHARED());
        descriptor.context().topology().checkAdapter(adapter);
        throwIf(
                type < SCI_DMA_TYPE_DONTCARE() || type > SCI_DMA_TYPE_TRANSPARENT(),
                SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(
                number != SCI_DMA_CHANNEL_ID_DONTCARE()
                        && Integer.compareUnsigned(number, NUMBER) >= 0,
                SCI_ERR_ILLEGAL_PARAMETER());
        var channels = descriptor.context().channels();
        return descriptor.add(() ->
                new DmaChannel(descriptor, channels.allocate(adapter, type, number, flags != 0)));
    }

    public synchronized void assign(DmaQueue newQueue) {
        throwIf(queue != null, SCI_ERR_ILLEGAL_OPERATION());
        queue = newQueue;
    }

    public synchronized void prepare(Object segment) {
        throwIf(!prepared.add(segment), SCI_ERR_ILLEGAL_OPERATION());
    }

    public synchronized void unprepare(Object segment) {
        throwIf(!prepared.remove(segment), SCI_ERR_ILLEGAL_OPERATION());
    }

    public synchronized void release() {
        throwIf(!prepared.isEmpty(), SCI_ERR_BUSY());
        descriptor.context().channels().release(allocation);
        descriptor.remove();
    }
}
