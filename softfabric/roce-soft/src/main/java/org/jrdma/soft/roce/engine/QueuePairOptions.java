package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair is made of.
 *
 * @param sharedReceives a receive queue shared with others; null for one of its own
 * @param extendedDomain for the end of an extended connection that receives; null for any other
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
