package org.jrdma.verbs.queue;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.Set;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.QueuePairType;

/**
 * The configuration of a queue pair.
 *
 * @param sends the capacity of the send queue
 * @param receives the capacity of the receive queue; 0 if the queue pair has no receive queue of
 *     its own
 * @param mayOverrun true if the requests of the queue pair may exceed the remaining capacity of its
 *     completion queues
 * @param extendedPosts true if send requests are posted by the functions of {@code ibv_qp_ex}
 * @param newerOperations the enabled operations that older libraries do not support
 * @param slotTimeout the maximum time that an asynchronous post waits for a free slot
 */
public record QueuePairConfig(
        QueuePairType type,
        int port,
        OptionalInt gidIndex,
        int sends,
        int receives,
        int sendElements,
        int receiveElements,
        int inlineBytes,
        boolean mayOverrun,
        boolean extendedPosts,
        Set<WorkRequest.Operation> newerOperations,
        Duration slotTimeout) {

    static QueuePairConfig withoutQueues(QueuePairType type, int port) {
        return new QueuePairConfig(
                type,
                port,
                OptionalInt.empty(),
                0,
                0,
                0,
                0,
                0,
                false,
                false,
                Set.of(),
                Duration.ZERO);
    }

    /** Returns the name of the C function that posts to the send queue. */
    public String postFunction() {
        return extendedPosts ? "ibv_wr_complete" : "ibv_post_send";
    }
}
