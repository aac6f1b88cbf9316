package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.sisci.internal.InterruptFunctions;

/**
 * An interrupt of a node, this one or another, by which this side can send small messages.
 *
 * <p>Owned by its {@link Node}; safe for use by several threads. In C: {@code
 * sci_remote_data_interrupt_t}; {@link #close()} is {@code SCIDisconnectDataInterrupt}.
 */
public final class RemoteDataInterrupt extends SisciObject {

    private static final long FIRST_PAUSE = 2_000;
    private static final long LONGEST_PAUSE = 1_000_000;

    private final InterruptFunctions functions;

    private RemoteDataInterrupt(
            MemorySegment handle,
            Lifetime lifetime,
            Patience patience,
            InterruptFunctions functions) {
        super(handle, lifetime, patience);
        this.functions = functions;
    }

    /** The node must be held. */
    static RemoteDataInterrupt connect(Node node, int peer, int number) throws SisciException {
        var functions = node.functions().interrupts();
        var name = "data interrupt %d of node %d from %s".formatted(number, peer, node);
        var handle =
                functions.connect(
                        true,
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
                                        functions.disconnect(true, handle, () -> "for " + name)));
        return new RemoteDataInterrupt(handle, lifetime, patience, functions);
    }

    /**
     * Interrupts the peer with a message; how long it can be is up to the driver. In C: {@code
     * SCITriggerDataInterrupt}.
     *
     * @throws SisciException with NO_SPACE if the peer is behind
     */
    public void trigger(byte[] message) throws SisciException {
        whileOpen(() -> functions.trigger(address(), message, () -> "for " + this));
    }

    /**
     * The same, again and again while the peer is behind.
     *
     * @throws FabricTimeoutException if it is still behind then
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public void trigger(byte[] message, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        for (var pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
            try {
                trigger(message);
                return;
            } catch (SisciException e) {
                if (e.error() != SisciError.NO_SPACE) {
                    throw e;
                }
            }
            if (deadline.hasPassed()) {
                throw deadline.missed("No room for a message to " + this);
            }
            Node.pause(Math.min(pause, deadline.remainingNanos()), toString());
        }
    }
}
