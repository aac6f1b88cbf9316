package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;

/**
 * An interrupt of a node, this one or another, by which this side can send small messages.
 *
 * <p>Owned by its {@link Node}; safe for use by several threads. In C: {@code
 * sci_remote_data_interrupt_t}; {@link #close()} is {@code SCIDisconnectDataInterrupt}.
 */
public final class RemoteDataInterrupt extends SisciObject {

    private static final long FIRST_PAUSE = 2_000;
    private static final long LONGEST_PAUSE = 1_000_000;

    private RemoteDataInterrupt(ObjectHandle handle) {
        super(handle);
    }

    /** Connects to an interrupt. The node must be held. */
    static RemoteDataInterrupt connect(NodeHandle node, int peer, int number)
            throws SisciException {
        return new RemoteDataInterrupt(RemoteInterrupt.connect(node, true, peer, number));
    }

    /**
     * Interrupts the peer with a message; how long it can be is up to the driver. In C: {@code
     * SCITriggerDataInterrupt}.
     *
     * @throws SisciException with NO_SPACE if the peer is behind
     */
    public void trigger(byte[] message) throws SisciException {
        whileOpen(() -> functions().interrupts().trigger(address(), message, this));
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
            pause(Math.min(pause, deadline.remainingNanos()), this);
        }
    }
}
