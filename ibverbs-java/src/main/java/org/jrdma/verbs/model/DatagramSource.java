package org.jrdma.verbs.model;

import org.jrdma.verbs.DatagramQueuePair;
import org.jrdma.verbs.memory.MemorySlice;

/**
 * The origin of a datagram, as reported by its completion. A reply needs these values and the first
 * {@link GlobalRouteHeader#BYTES} bytes of the receive buffer: see {@link
 * DatagramQueuePair#addressOf(Completion, MemorySlice)}.
 *
 * @param queuePairNumber the queue pair number of the sender. In C: {@code ibv_wc.src_qp}
 * @param hasGlobalRoute true if a {@link GlobalRouteHeader} precedes the message; always true on
 *     RoCE. In C: {@code IBV_WC_GRH}
 * @param lid the sender's address in an InfiniBand subnet; 0 on RoCE. In C: {@code ibv_wc.slid}
 * @param serviceLevel the priority in the subnet
 * @param pathBits the low bits of the LID of this port that the datagram was sent to
 */
public record DatagramSource(
        int queuePairNumber, boolean hasGlobalRoute, int lid, int serviceLevel, int pathBits) {}
