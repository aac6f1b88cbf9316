package org.jrdma.sisci;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.InterruptFunctions;

/**
 * An interrupt of a node, this one or another, that this side can trigger.
 *
 * <p>Owned by its {@link Node}; safe for use by several threads. In C: {@code
 * sci_remote_interrupt_t}; {@link #close()} is {@code SCIDisconnectInterrupt}.
 */
public final class RemoteInterrupt extends SisciObject {

    private final InterruptFunctions functions;

    private RemoteInterrupt(
            MemorySegment handle,
            Lifetime lifetime,
            Patience patience,
            InterruptFunctions functions) {
        super(handle, lifetime, patience);
        this.functions = functions;
    }

    /** The node must be held. */
    static RemoteInterrupt connect(Node node, int peer, int number) throws SisciException {
        var functions = node.functions().interrupts();
        var name = "interrupt %d of node %d from %s".formatted(number, peer, node);
        var handle =
                functions.connect(
                        false,
                        node.address(),
                        peer,
                        node.adapterNumber(),
                        number,
                        () -> "for " + name);
        var patience = new Patience(node.leftovers());
        var lifetime =
                new Lifetime(
                        name,
                        List.of(node.ownLifetime()),
                        () ->
                                patience.undo(() ->
                                        functions.disconnect(false, handle, () -> "for " + name)));
        return new RemoteInterrupt(handle, lifetime, patience, functions);
    }

    /** Interrupts the peer. In C: {@code SCITriggerInterrupt}. */
    public void trigger() throws SisciException {
        whileOpen(() -> functions.trigger(address(), () -> "for " + this));
    }
}
