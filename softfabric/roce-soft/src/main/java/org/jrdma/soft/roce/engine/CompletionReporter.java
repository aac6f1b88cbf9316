package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.Transport;

/** Adds the completions of a queue pair to its completion queues and detects overruns. */
final class CompletionReporter {

    private final Completion completion;
    private final int number;
    private final Transport transport;
    private final PeerRoute route;
    private final CompletionSink sends;
    private final CompletionSink receives;
    private boolean overrun;

    /**
     * @param completion the object that the engine fills and passes to the queues for each
     *     completion
     */
    CompletionReporter(
            Completion completion, int number, QueuePairOptions options, PeerRoute route) {
        this.completion = completion;
        this.number = number;
        this.transport = options.transport();
        this.route = route;
        this.sends = options.sendCompletions();
        this.receives = options.receiveCompletions();
    }

    /**
     * Returns the completion queue for receives. Receives of an {@link XrcReceiveQueue} are
     * reported to the completion queue of that receive queue instead.
     */
    CompletionSink receives() {
        return receives;
    }

    /** Returns true if a completion was lost because a completion queue was full. */
    boolean isOverrun() {
        return overrun;
    }

    void reset() {
        overrun = false;
    }

    /** Reports the completion of a send request, if the request failed or is signaled. */
    void completeSend(SendWork work, CompletionStatus status) {
        if (work.signaled || status != CompletionStatus.SUCCESS) {
            completion.begin(work.id, status, CompletionKind.of(work.operation), number);
            completion.bytes = work.operation.isAtomic() ? Long.BYTES : work.bytes();
            add(sends);
        }
    }

    /** Reports the completion of a receive whose message has arrived. */
    void completeReceive(
            CompletionSink sink,
            ReceiveWork work,
            CompletionKind kind,
            IncomingPacket packet,
            long bytes) {
        completion.begin(work.id, CompletionStatus.SUCCESS, kind, number);
        completion.bytes = bytes;
        completion.solicited = packet.solicited();
        completion.hasImmediate = packet.opCode().hasImmediate();
        if (completion.hasImmediate) {
            completion.immediate = packet.immediate().data();
        }
        completion.invalidated = packet.opCode().hasInvalidate();
        if (completion.invalidated) {
            completion.invalidatedKey = packet.invalidate().key();
        }
        if (transport == Transport.DATAGRAM) {
            completion.sourceQueuePair = packet.datagram().sourceQueuePair();
            completion.hasRouteHeader = true;
        } else {
            completion.sourceQueuePair = route.remoteNumber();
        }
        add(sink);
    }

    /** Reports the completion of a receive that failed. */
    void failReceive(CompletionSink sink, ReceiveWork work, CompletionStatus status) {
        completion.begin(work.id, status, CompletionKind.RECEIVE, number);
        add(sink);
    }

    private void add(CompletionSink sink) {
        if (!sink.add(completion)) {
            overrun = true;
        }
    }
}
