package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/**
 * The options of a queue pair.
 *
 * @param maxSendBuffers the maximum number of scatter/gather entries of a send request
 * @param maxReceiveBuffers the maximum number of scatter/gather entries of a receive
 * @param maxInline the maximum number of bytes of inline data in a send request
 * @param sharedReceives the shared receive queue, or null if the queue pair has its own receive
 *     queue
 * @param extendedDomain the XRC domain if the queue pair is the receiving end of an extended
 *     connection; otherwise null
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
        @Nullable XrcDomainIdentity extendedDomain) {}
