package org.jrdma.sisci;

import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.model.SisciException;

/**
 * A connection to an interrupt of another node, or of this node. The connection is used to trigger
 * the interrupt.
 *
 * <p>Owned by its {@link Node}; safe for use by multiple threads. In C: {@code
 * sci_remote_interrupt_t}; {@link #close()} is {@code SCIDisconnectInterrupt}.
 */
public final class RemoteInterrupt extends SisciObject {

    private RemoteInterrupt(ObjectHandle handle) {
        super(handle);
    }

    /**
     * Connects to an interrupt. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold} the
     * lifetime of the node.
     */
    static RemoteInterrupt connect(NodeHandle node, int peer, int number) throws SisciException {
        return new RemoteInterrupt(connect(node, false, peer, number));
    }

    /**
     * Connects to an interrupt with or without data. The caller must {@linkplain
     * org.jrdma.ffi.Lifetime#hold hold} the lifetime of the node.
     */
    static ObjectHandle connect(NodeHandle node, boolean withData, int peer, int number)
            throws SisciException {
        var functions = node.functions().interrupts();
        var kind = withData ? "data interrupt" : "interrupt";
        var name = "%s %d of node %d from %s".formatted(kind, number, peer, node);
        var handle =
                functions.connect(withData, node.address(), peer, node.adapter(), number, name);
        return node.own(name, handle, () -> functions.disconnect(withData, handle, name));
    }

    /** Triggers the interrupt of the peer. In C: {@code SCITriggerInterrupt}. */
    public void trigger() throws SisciException {
        whileOpen(() -> functions().interrupts().trigger(address(), this));
    }
}
