package org.jrdma.verbs.model;

import org.jrdma.verbs.DatagramQueuePair;
import org.jrdma.verbs.memory.MemorySlice;

/**
 * Where a datagram came from, as its completion says it. Enough for an answer, together with the
 * first {@link GlobalRouteHeader#BYTES} bytes of what was received: see {@link
 * DatagramQueuePair#addressOf(Completion, MemorySlice)}.
 *
 * @param queuePairNumber the sender's queue pair. In C: {@code ibv_wc.src_qp}
 * @param hasGlobalRoute whether there is a {@link GlobalRouteHeader} before the message; always on
 *     RoCE. In C: {@code IBV_WC_GRH}
 * @param lid the sender's address in an InfiniBand subnet; 0 on RoCE. In C: {@code ibv_wc.slid}
 * @param serviceLevel the priority in the subnet
 * @param pathBits the low bits of this port's LID that it came to
 */
public record DatagramSource(
        int queuePairNumber, boolean hasGlobalRoute, int lid, int serviceLevel, int pathBits) {}
