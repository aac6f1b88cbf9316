package org.jrdma.sisci;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.Lifetime;
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

    /** The prepared segments, by the address of the segment. */
    private final Map<Long, Lifetime> preparations = new HashMap<>();

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
     * Allocates a channel. The caller must {@linkplain Lifetime#hold hold} the lifetime of the
     * node.
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
        use(queue, () -> call(ChannelUse.ASSIGN, queue));
    }

    /**
     * Prepares a local segment for this channel. The close of the segment or of this channel
     * reverses this. In C: {@code SCIPrepareLocalSegmentForDMA}.
     */
    public void prepare(LocalSegment segment) throws SisciException {
        prepare(segment, ChannelUse.PREPARE_LOCAL, ChannelUse.UNPREPARE_LOCAL);
    }

    /**
     * Prepares a remote segment for this channel. The close of the segment or of this channel
     * reverses this. In C: {@code SCIPrepareRemoteSegmentForDMA}.
     */
    public void prepare(RemoteSegment segment) throws SisciException {
        prepare(segment, ChannelUse.PREPARE_REMOTE, ChannelUse.UNPREPARE_REMOTE);
    }

    /** Reverses {@link #prepare(LocalSegment)}. In C: {@code SCIUnprepareLocalSegmentForDMA}. */
    public void unprepare(LocalSegment segment) throws SisciException {
        unprepare(segment, ChannelUse.UNPREPARE_LOCAL);
    }

    /** Reverses {@link #prepare(RemoteSegment)}. In C: {@code SCIUnprepareRemoteSegmentForDMA}. */
    public void unprepare(RemoteSegment segment) throws SisciException {
        unprepare(segment, ChannelUse.UNPREPARE_REMOTE);
    }

    private void prepare(SisciObject segment, ChannelUse use, ChannelUse reverse)
            throws SisciException {
        synchronized (preparations) {
            use(
                    segment,
                    () -> {
                        call(use, segment);
                        var key = segment.address().address();
                        preparations.put(key, preparation(segment, key, reverse));
                    });
        }
    }

    /** Returns the lifetime of a preparation, which does not refer to this object. */
    private Lifetime preparation(SisciObject segment, long key, ChannelUse reverse) {
        var all = preparations;
        var dma = functions().dma();
        var channel = address();
        var object = segment.address();
        var name = "preparation of %s for %s".formatted(segment, this);
        return new Lifetime(
                name,
                List.of(ownLifetime(), segment.ownLifetime()),
                () -> {
                    synchronized (all) {
                        all.remove(key);
                        dma.use(channel, reverse, object, name);
                    }
                });
    }

    private void unprepare(SisciObject segment, ChannelUse use) throws SisciException {
        Lifetime preparation;
        synchronized (preparations) {
            preparation = preparations.get(segment.address().address());
        }
        if (preparation == null) {
            use(segment, () -> call(use, segment)); // The library rejects the call.
        } else {
            preparation.close();
        }
    }

    /** Makes calls while this channel and another object of the same library are open. */
    private void use(SisciObject object, VoidCall<SisciException> calls) throws SisciException {
        object.checkLibrary(functions(), this);
        whileOpen(() -> object.whileOpen(calls));
    }

    private void call(ChannelUse use, SisciObject object) throws SisciException {
        functions().dma().use(address(), use, object.address(), this + " and " + object);
    }
}
