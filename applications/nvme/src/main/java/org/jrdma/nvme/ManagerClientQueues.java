package org.jrdma.nvme;

import java.util.Map;
import java.util.TreeMap;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Status;

/** The queue pairs that a manager has created for its clients. Safe for use by multiple threads. */
final class ManagerClientQueues {

    private record Grant(ManagerClientSession client, QueueMemory memory) {}

    private final AdministeredController controller;
    private final Map<Integer, Grant> grants = new TreeMap<>();

    ManagerClientQueues(AdministeredController controller) {
        this.controller = controller;
    }

    synchronized int count() {
        return grants.size();
    }

    /**
     * Creates a queue pair for a client.
     *
     * @return the id of the queue pair
     * @throws NvmeException with INVALID_FIELD if the sizes or addresses are invalid, or overlap
     *     other queues or the memory of the manager
     */
    synchronized int create(ManagerClientSession client, QueueMemory memory)
            throws FabricException {
        if (!memory.isValid(controller.capabilities().maxQueueEntries())) {
            throw refusal("has invalid sizes or addresses", memory);
        }
        if (memory.overlapsMemoryOf(controller)
                || grants.values().stream().anyMatch(each -> each.memory().overlaps(memory))) {
            throw refusal("overlaps other queues or memory of the manager", memory);
        }
        var id = controller.takeQueueId();
        grants.put(id, new Grant(client, memory));
        // a queue whose creation has timed out is deleted with the others of the client
        controller.createQueue(id, memory, () -> grants.remove(id));
        return id;
    }

    private NvmeException refusal(String reason, QueueMemory memory) {
        return new NvmeException(
                "The manager of %s refused to create a queue, because it %s: %d entries at 0x%x, %d entries at 0x%x."
                        .formatted(
                                controller,
                                reason,
                                memory.submissionEntries(),
                                memory.submissionAddress(),
                                memory.completionEntries(),
                                memory.completionAddress()),
                Status.INVALID_FIELD.encode());
    }

    /**
     * Deletes a queue pair of a client.
     *
     * @throws NvmeException with INVALID_QUEUE_ID if the client has no such queue pair
     */
    synchronized void delete(ManagerClientSession client, int id) throws FabricException {
        var grant = grants.get(id);
        if (grant == null || grant.client() != client) {
            throw new NvmeException(
                    "The manager of %s refused to delete queue %d, which the client does not have."
                            .formatted(controller, id),
                    Status.INVALID_QUEUE_ID.encode());
        }
        controller.deleteQueue(id);
        grants.remove(id);
    }

    /** Deletes all queue pairs of a client. A failure does not prevent further deletions. */
    synchronized void deleteAll(ManagerClientSession client) throws FabricException {
        var ids =
                grants.entrySet().stream()
                        .filter(each -> each.getValue().client() == client)
                        .map(Map.Entry::getKey)
                        .toList();
        FabricException failure = null;
        for (var id : ids) {
            try {
                delete(client, id);
            } catch (FabricException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
