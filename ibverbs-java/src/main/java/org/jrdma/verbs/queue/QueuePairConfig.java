package org.jrdma.verbs.queue;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.Set;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.QueuePairType;

/**
 * The configuration of a queue pair.
 *
 * @param receives the capacity of its own receive queue; 0 if it has none
 * @param mayOverrun true if its requests may exceed the remaining capacity of the completion queue
 * @param extendedPosts true if requests are posted to the send queue with the functions of {@code
 *     ibv_qp_ex}
 * @param newerOperations the enabled operations that older libraries do not support
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

    /** The name of the function that posts to the send queue. */
    public String postFunction() {
        return extendedPosts ? "ibv_wr_complete" : "ibv_post_send";
    }
}
