package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair is made of.
 *
 * @param sharedReceives a receive queue shared with others; null for one of its own
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
        @Nullable ReceiveQueue sharedReceives) {}
