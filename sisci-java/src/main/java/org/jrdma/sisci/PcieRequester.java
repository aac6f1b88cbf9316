package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.model.SisciException;

/**
 * The registration of a device of this machine, such as a GPU, which permits the device to access
 * other nodes through the adapter.
 *
 * <p>Owned by its {@link Node}. In C: {@link #close()} is {@code SCIUnregisterPCIeRequester}.
 */
public final class PcieRequester extends SisciObject {

    private PcieRequester(ObjectHandle handle) {
        super(handle);
    }

    /**
     * Registers a device. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold} the
     * lifetime of the node.
     */
    static PcieRequester register(NodeHandle node, int bus, int deviceFunction)
            throws SisciException {
        var functions = node.functions().nodes();
        var name =
                "device %02x:%02x.%d as requester of %s"
                        .formatted(bus, deviceFunction >> 3, deviceFunction & 7, node);
        functions.registerRequester(node.address(), node.adapter(), bus, deviceFunction, name);
        return new PcieRequester(
                node.own(
                        name,
                        MemorySegment.NULL,
                        () ->
                                functions.unregisterRequester(
                                        node.address(),
                                        node.adapter(),
                                        bus,
                                        deviceFunction,
                                        name)));
    }
}
