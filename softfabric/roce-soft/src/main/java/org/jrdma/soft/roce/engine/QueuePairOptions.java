package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/**
 * The options of a queue pair.
 *
 * @param sharedReceives the shared receive queue; null if the queue pair has its own
 * @param extendedDomain the XRC domain of the receiving end of an extended connection; otherwise
 *     null
 */
public record QueuePairOptions(
        Transport transport,
        ProtectionDomain domain,
        CompletionSink sendCompletions,
        CompletionSink receiveCompletions,
        EventSink events,
        int maxSends,
        int maxReceives,
        int maxSendBuffers,
        int maxReceiveBuffers,
        int maxInline,
        @Nullable ReceiveQueue sharedReceives,
        @Nullable ExtendedDomain extendedDomain) {}
