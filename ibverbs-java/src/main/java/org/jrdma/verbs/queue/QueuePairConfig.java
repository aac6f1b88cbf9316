package org.jrdma.verbs.queue;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.Set;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.QueuePairType;

/**
 * How a queue pair is made.
 *
 * @param receives how many receives of its own there is room for; 0 if it has none
 * @param mayOverrun whether it may have more requests than its completion queue has room for
 * @param postedExtended whether requests to send are posted by functions of the queue pair's own
 * @param newerOperations the operations that older libraries do not know
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
        boolean postedExtended,
        Set<WorkRequest.Operation> newerOperations,
        Duration slotTimeout) {

    /** The name of the function that ends a post of requests to send. */
    public String postFunction() {
        return postedExtended ? "ibv_wr_complete" : "ibv_post_send";
    }
}
