package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.Constant;
import org.jrdma.sisci.internal.DmaFunctions.ChannelUse;
import org.jrdma.sisci.internal.SisciFunctions;

/**
 * A channel of a DMA engine, taken for this process: queues are assigned to it, and segments
 * prepared for it.
 *
 * <p>Owned by its {@link Node}; safe for use by several threads. In C: {@code sci_dma_channel_t};
 * {@link #close()} is {@code SCIReturnDMAChannel}.
 */
public final class DmaChannel extends SisciObject {

    private final SisciFunctions functions;

    private DmaChannel(
            MemorySegment handle, Lifetime lifetime, Patience patience, SisciFunctions functions) {
        super(handle, lifetime, patience);
        this.functions = functions;
    }

    /** Whose channel. In C: {@code sci_dma_type_t}. */
    public enum Engine {
        /** Any engine's. */
        ANY(sisci_h.SCI_DMA_TYPE_DONTCARE()),
        /** The adapter's. */
        ADAPTER(sisci_h.SCI_DMA_TYPE_ADAPTER()),
        /** That of an engine that reaches remote segments without a map. */
        GLOBAL(sisci_h.SCI_DMA_TYPE_GLOBAL()),
        /** The CPU's or its chipset's. */
        SYSTEM(sisci_h.SCI_DMA_TYPE_SYSTEM()),
        /** In C: {@code SCI_DMA_TYPE_TRANSPARENT}. */
        TRANSPARENT(sisci_h.SCI_DMA_TYPE_TRANSPARENT());

        private final int code;

        Engine(int code) {
            this.code = code;
        }
    }

    /** The node must be held. */
    static DmaChannel request(Node node, Engine engine, int channel, boolean shared)
            throws SisciException {
        var functions = node.functions();
        var name = "DMA channel (%s) of %s".formatted(engine, node);
        var flags = shared ? functions.library().number(Constant.SCI_FLAG_DMA_CHANNEL_SHARED) : 0;
        var handle =
                functions
                        .dma()
                        .requestChannel(
                                node.address(),
                                node.adapterNumber(),
                                engine.code,
                                channel,
                                flags,
                                () -> "for " + name);
        var patience = new Patience(node.leftovers());
        var lifetime =
                new Lifetime(
                        name,
                        List.of(node.ownLifetime()),
                        () ->
                                patience.undo(() ->
                                        functions
                                                .dma()
                                                .returnChannel(handle, () -> "for " + name)));
        return new DmaChannel(handle, lifetime, patience, functions);
    }

    /** Has a queue's transfers go by this channel. In C: {@code SCIAssignDMAChannel}. */
    public void assign(DmaQueue queue) throws SisciException {
        use(ChannelUse.ASSIGN, queue, queue.functions());
    }

    /** In C: {@code SCIPrepareLocalSegmentForDMA}. */
    public void prepare(LocalSegment segment) throws SisciException {
        use(ChannelUse.PREPARE_LOCAL, segment, segment.node().functions());
    }

    /** In C: {@code SCIPrepareRemoteSegmentForDMA}. */
    public void prepare(RemoteSegment segment) throws SisciException {
        use(ChannelUse.PREPARE_REMOTE, segment, segment.node().functions());
    }

    /** In C: {@code SCIUnprepareLocalSegmentForDMA}. */
    public void unprepare(LocalSegment segment) throws SisciException {
        use(ChannelUse.UNPREPARE_LOCAL, segment, segment.node().functions());
    }

    /** In C: {@code SCIUnprepareRemoteSegmentForDMA}. */
    public void unprepare(RemoteSegment segment) throws SisciException {
        use(ChannelUse.UNPREPARE_REMOTE, segment, segment.node().functions());
    }

    private void use(ChannelUse use, SisciObject object, SisciFunctions its) throws SisciException {
        object.checkLibrary(its, functions, toString());
        whileOpen(() ->
                object.whileOpen(() ->
                        functions
                                .dma()
                                .use(
                                        address(),
                                        use,
                                        object.address(),
                                        () -> "for %s and %s".formatted(this, object))));
    }
}
