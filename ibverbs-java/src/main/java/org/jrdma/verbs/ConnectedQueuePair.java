package org.jrdma.verbs;

import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair that is connected to one peer, reliably or unreliably. Only queue pairs of this
 * module implement this interface.
 */
public interface ConnectedQueuePair {

    /**
     * The endpoint of this queue pair. The program sends it to the peer, which needs it to connect.
     */
    Endpoint endpoint();

    /**
     * Connects this queue pair to {@code peer} with the default options: moves it from the state
     * RESET to READY_TO_SEND. The peer must connect to the {@link #endpoint()} of this queue pair.
     * This method does not wait for the peer. In C: three calls of {@code ibv_modify_qp}.
     *
     * @throws VerbsException if the device rejects a transition; the message names both states and
     *     the attributes. Always thrown for iWARP devices, which can connect only through {@code
     *     rdma_cm}
     */
    default void connect(Endpoint peer) throws VerbsException {
        connect(peer, DirectConnectOptions.DEFAULT);
    }

    /**
     * Connects this queue pair to {@code peer}: moves it from the state RESET to READY_TO_SEND. The
     * peer must connect to the {@link #endpoint()} of this queue pair. This method does not wait
     * for the peer. In C: three calls of {@code ibv_modify_qp}.
     *
     * @throws IllegalArgumentException if an option is out of range; in that case the queue pair is
     *     still in the state RESET
     * @throws VerbsException if the device rejects a transition; the message names both states and
     *     the attributes. Always thrown for iWARP devices, which can connect only through {@code
     *     rdma_cm}
     */
    void connect(Endpoint peer, DirectConnectOptions options) throws VerbsException;
}
