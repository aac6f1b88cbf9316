package org.jrdma.verbs;

import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair that sends and receives whole frames of an Ethernet port, their headers included,
 * and without their check sequence. It receives what its {@linkplain QueuePair#newFlow flows} bring
 * to it, and nothing else. The process needs the capability CAP_NET_RAW. In C: {@code
 * IBV_QPT_RAW_PACKET}.
 */
public sealed interface RawQueuePair permits PolledRawQueuePair, AsyncRawQueuePair {

    /**
     * Brings this queue pair from RESET to READY_TO_SEND. In C: three calls of {@code
     * ibv_modify_qp}.
     *
     * @throws VerbsException if the device refuses a step; the message names both states
     */
    void activate() throws VerbsException;
}
