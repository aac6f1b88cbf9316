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
 * A connection to a data interrupt of another node, or of this node. The connection is used to send
 * small messages.
 *
 * <p>Owned by its {@link Node}; safe for use by multiple threads. In C: {@code
 * sci_remote_data_interrupt_t}; {@link #close()} is {@code SCIDisconnectDataInterrupt}.
 */
public final class RemoteDataInterrupt extends SisciObject {

    private static final long FIRST_PAUSE_NANOS = 2_000;
    private static final long LONGEST_PAUSE_NANOS = 1_000_000;

    private RemoteDataInterrupt(ObjectHandle handle) {
        super(handle);
    }

    /**
     * Connects to a data interrupt. The caller must {@linkplain org.jrdma.ffi.Lifetime#hold hold}
     * the lifetime of the node.
     */
    static RemoteDataInterrupt connect(NodeHandle node, int peer, int number)
            throws SisciException {
        return new RemoteDataInterrupt(RemoteInterrupt.connect(node, true, peer, number));
    }

    /**
     * Triggers the interrupt of the peer with a message. The driver limits the length of a message.
     * In C: {@code SCITriggerDataInterrupt}.
     *
     * @throws SisciException with NO_SPACE if the receive queue of the peer is full
     */
    public void trigger(byte[] message) throws SisciException {
        whileOpen(() -> functions().interrupts().trigger(address(), message, this));
    }

    /**
     * Triggers the interrupt like {@link #trigger(byte[])}, and retries while the receive queue of
     * the peer is full.
     *
     * @throws FabricTimeoutException if the receive queue is still full when the timeout expires
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public void trigger(byte[] message, Duration timeout)
            throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        for (var pause = FIRST_PAUSE_NANOS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
            try {
                trigger(message);
                return;
            } catch (SisciException e) {
                if (e.error() != SisciError.NO_SPACE) {
                    throw e;
                }
            }
            if (deadline.hasPassed()) {
                throw deadline.missed("No space for a message to " + this);
            }
            pause(Math.min(pause, deadline.remainingNanos()), this);
        }
    }
}
