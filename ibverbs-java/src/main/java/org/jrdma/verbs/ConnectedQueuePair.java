package org.jrdma.verbs;

import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair that sends to or receives from one peer, reliably or not. Only queue pairs of this
 * module implement it.
 */
public interface ConnectedQueuePair {

    /** Where a peer reaches it: to be told to the peer before both connect. */
    Endpoint endpoint();

    /**
     * Brings this queue pair from RESET to READY_TO_SEND, connected to {@code peer}, which must
     * connect to this one's {@link #endpoint()} likewise. Does not wait for the peer. In C: three
     * calls of {@code ibv_modify_qp}.
     *
     * @throws VerbsException if the device refuses a step; the message names both states and the
     *     attributes in question. iWARP devices connect through {@code rdma_cm} only
     */
    default void connect(Endpoint peer) throws VerbsException {
        connect(peer, new ConnectOptions());
    }

    /**
     * Brings this queue pair from RESET to READY_TO_SEND, connected to {@code peer}. Does not wait
     * for the peer. In C: three calls of {@code ibv_modify_qp}.
     *
     * @throws IllegalArgumentException if an option is out of range; no step is gone then
     * @throws VerbsException if the device refuses a step; the message names both states and the
     *     attributes in question. iWARP devices connect through {@code rdma_cm} only
     */
    void connect(Endpoint peer, ConnectOptions options) throws VerbsException;
}
