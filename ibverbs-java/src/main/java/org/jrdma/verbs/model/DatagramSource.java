package org.jrdma.verbs.model;

import org.jrdma.verbs.DatagramQueuePair;
import org.jrdma.verbs.memory.MemorySlice;

/**
 * The origin of a received datagram, as reported by the completion of the receive. {@link
 * DatagramQueuePair#addressOf(Completion, MemorySlice)} computes the path for a reply from these
 * values and the first {@link GlobalRouteHeader#BYTES} bytes of the receive buffer.
 *
 * @param queuePairNumber the queue pair number of the sender. In C: {@code ibv_wc.src_qp}
 * @param hasGlobalRoute true if a {@link GlobalRouteHeader} precedes the message; always true on
 *     RoCE. In C: {@code IBV_WC_GRH}
 * @param lid the sender's address in an InfiniBand subnet; 0 on RoCE. In C: {@code ibv_wc.slid}
 * @param serviceLevel the priority within the InfiniBand subnet
 * @param pathBits the low bits of the LID that the datagram was sent to, for a port with several
 *     LIDs
 */
public record DatagramSource(
        int queuePairNumber, boolean hasGlobalRoute, int lid, int serviceLevel, int pathBits) {}
