package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;

/**
 * The right of a device of this machine to reach other nodes through the adapter.
 *
 * <p>Owned by its {@link Node}. {@link #close()} is {@code SCIUnregisterPCIeRequester}.
 */
public final class PcieRequester extends SisciObject {

    private PcieRequester(Lifetime lifetime, Patience patience) {
        super(MemorySegment.NULL, lifetime, patience);
    }

    /** The node must be held. */
    static PcieRequester register(Node node, int bus, int deviceFunction) throws SisciException {
        var functions = node.functions().nodes();
        var handle = node.address();
        var adapter = node.adapterNumber();
        var name =
                "device %02x:%02x.%d as requester of %s"
                        .formatted(bus, deviceFunction >> 3, deviceFunction & 7, node);
        functions.registerRequester(handle, adapter, bus, deviceFunction, () -> "for " + name);
        var patience = new Patience(node.leftovers());
        var lifetime =
                new Lifetime(
                        name,
                        List.of(node.ownLifetime()),
                        () ->
                                patience.undo(() ->
                                        functions.unregisterRequester(
                                                handle,
                                                adapter,
                                                bus,
                                                deviceFunction,
                                                () -> "for " + name)));
        return new PcieRequester(lifetime, patience);
    }
}
