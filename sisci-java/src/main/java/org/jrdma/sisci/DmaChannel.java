package org.jrdma.sisci;

import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.sisci.internal.DmaFunctions.ChannelUse;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.SisciConstant;
import org.jrdma.sisci.model.SisciException;

/**
 * A channel of a DMA engine, allocated to this process. DMA queues can be assigned to the channel,
 * and segments can be prepared for it.
 *
 * <p>Owned by its {@link Node}; safe for use by multiple threads. In C: {@code sci_dma_channel_t};
 * {@link #close()} is {@code SCIReturnDMAChannel}.
 */
public final class DmaChannel extends SisciObject {

    private DmaChannel(ObjectHandle handle) {
        super(handle);
    }

    /** The kind of DMA engine to which a channel belongs. In C: {@code sci_dma_type_t}. */
    public enum Engine {
        /** Any engine. */
        ANY(sisci_h.SCI_DMA_TYPE_DONTCARE()),
        /** The engine of the adapter. */
        ADAPTER(sisci_h.SCI_DMA_TYPE_ADAPTER()),
        /** An engine that accesses remote segments without a map. */
        GLOBAL(sisci_h.SCI_DMA_TYPE_GLOBAL()),
        /** The engine of the CPU or chipset. */
        SYSTEM(sisci_h.SCI_DMA_TYPE_SYSTEM()),
        /** In C: {@code SCI_DMA_TYPE_TRANSPARENT}. */
        TRANSPARENT(sisci_h.SCI_DMA_TYPE_TRANSPARENT());

        private final int code;

        Engine(int code) {
            this.code = code;
        }
    }

    /**
     * Allocates a channel. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold} the
     * lifetime of the node.
     */
    static DmaChannel request(NodeHandle node, Engine engine, int channel, boolean shared)
            throws SisciException {
        var library = node.functions().library();
        var functions = node.functions().dma();
        var name = "DMA channel (%s) of %s".formatted(engine, node);
        var flags = shared ? library.number(SisciConstant.SCI_FLAG_DMA_CHANNEL_SHARED) : 0;
        var handle =
                functions.requestChannel(
                        node.address(), node.adapter(), engine.code, channel, flags, name);
        return new DmaChannel(node.own(name, handle, () -> functions.returnChannel(handle, name)));
    }

    /**
     * Assigns a queue to this channel, which then executes the transfers of the queue. In C: {@code
     * SCIAssignDMAChannel}.
     */
    public void assign(DmaQueue queue) throws SisciException {
        use(ChannelUse.ASSIGN, queue);
    }

    /** Prepares a local segment for this channel. In C: {@code SCIPrepareLocalSegmentForDMA}. */
    public void prepare(LocalSegment segment) throws SisciException {
        use(ChannelUse.PREPARE_LOCAL, segment);
    }

    /** Prepares a remote segment for this channel. In C: {@code SCIPrepareRemoteSegmentForDMA}. */
    public void prepare(RemoteSegment segment) throws SisciException {
        use(ChannelUse.PREPARE_REMOTE, segment);
    }

    /** Reverses {@link #prepare(LocalSegment)}. In C: {@code SCIUnprepareLocalSegmentForDMA}. */
    public void unprepare(LocalSegment segment) throws SisciException {
        use(ChannelUse.UNPREPARE_LOCAL, segment);
    }

    /** Reverses {@link #prepare(RemoteSegment)}. In C: {@code SCIUnprepareRemoteSegmentForDMA}. */
    public void unprepare(RemoteSegment segment) throws SisciException {
        use(ChannelUse.UNPREPARE_REMOTE, segment);
    }

    private void use(ChannelUse use, SisciObject object) throws SisciException {
        object.checkLibrary(functions(), this);
        whileOpen(() ->
                object.whileOpen(() ->
                        functions()
                                .dma()
                                .use(address(), use, object.address(), this + " and " + object)));
    }
}
