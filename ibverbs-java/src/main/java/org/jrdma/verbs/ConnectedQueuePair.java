package org.jrdma.verbs;

import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair that is connected to one peer, reliably or unreliably. Only queue pairs of this
 * module implement this interface.
 */
public interface ConnectedQueuePair {

    /** The endpoint of this queue pair, which the program sends to the peer before both connect. */
    Endpoint endpoint();

    /**
     * Brings this queue pair from RESET to READY_TO_SEND, connected to {@code peer}, which must
     * connect to the {@link #endpoint()} of this queue pair. Does not wait for the peer. In C:
     * three calls of {@code ibv_modify_qp}.
     *
     * @throws VerbsException if the device rejects a transition; the message names both states and
     *     the attributes. iWARP devices connect through {@code rdma_cm} only
     */
    default void connect(Endpoint peer) throws VerbsException {
        connect(peer, new ConnectOptions());
    }

    /**
     * Brings this queue pair from RESET to READY_TO_SEND, connected to {@code peer}. Does not wait
     * for the peer. In C: three calls of {@code ibv_modify_qp}.
     *
     * @throws IllegalArgumentException if an option is out of range; the state is then still RESET
     * @throws VerbsException if the device rejects a transition; the message names both states and
     *     the attributes. iWARP devices connect through {@code rdma_cm} only
     */
    void connect(Endpoint peer, ConnectOptions options) throws VerbsException;
}
