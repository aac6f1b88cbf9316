package org.jrdma.nvme;

import java.util.List;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.pcie.DmaAllocation;
import org.jspecify.annotations.Nullable;

/**
 * The memory and the pending commands of an I/O queue. Does not refer to the {@link NvmeQueue},
 * because the destructor of the queue uses it.
 */
final class QueueResources {

    private static final int CONTIGUOUS = 1;

    private final Controller controller;
    private final int id;
    private final int depth;
    private final int completionEntries;
    private final DmaAllocation memory;
    private final long completionOffset;
    private final long listOffset;
    private final @Nullable DmaMemory[] pending;
    private final Lifetime lifetime;

    private QueueResources(
            Controller controller,
            int id,
            int depth,
            int completionEntries,
            DmaAllocation memory,
            Lifetime owner) {
        this.controller = controller;
        this.id = id;
        this.depth = depth;
        this.completionEntries = completionEntries;
        this.memory = memory;
        this.completionOffset = pages((long) (depth + 1) * Command.BYTES);
        this.listOffset = completionOffset + pages((long) completionEntries * Completion.BYTES);
        this.pending = new @Nullable DmaMemory[depth];
        this.lifetime =
                new Lifetime(
                        "I/O queue %d of %s".formatted(id, controller),
                        List.of(owner),
                        this::destroy);
    }

    /**
     * Creates the queues of a controller.
     *
     * @param depth the number of commands that can be pending
     * @param owner the lifetime of the drive, which the caller holds
     */
    static QueueResources create(Controller controller, int depth, Lifetime owner)
            throws FabricException {
        var maxEntries = controller.capabilities().maxQueueEntries();
        if (depth < 1 || depth > maxEntries - 2) {
            throw new IllegalArgumentException(
                    "The depth of a queue of %s is %d. It must be from 1 to %d."
                            .formatted(controller, depth, maxEntries - 2));
        }
        var completionEntries = Math.min(2 * (depth + 1), maxEntries);
        var id = controller.takeQueueId();
        var bytes =
                pages((long) (depth + 1) * Command.BYTES)
                        + pages((long) completionEntries * Completion.BYTES)
                        + (long) depth * Configuration.PAGE_BYTES;
        DmaAllocation memory;
        try {
            memory = controller.allocate(bytes);
        } catch (Throwable e) {
            controller.returnQueueId(id);
            throw e;
        }
        var admin = controller.admin();
        var isUnused = true; // false while the controller may use the memory
        var deadline = controller.deadline();
        try {
            admin.acquire("creation of queue " + id, deadline);
            try {
                isUnused = false;
                createQueues(controller, id, depth, completionEntries, memory, deadline);
            } catch (NvmeException e) {
                isUnused = e.code() != 0; // the controller refused
                throw e;
            } finally {
                admin.release();
            }
        } catch (Throwable e) {
            if (isUnused) {
                controller.free(memory);
                controller.returnQueueId(id);
            }
            throw e;
        }
        return new QueueResources(controller, id, depth, completionEntries, memory, owner);
    }

    private static long pages(long bytes) {
        return Math.ceilDiv(bytes, Configuration.PAGE_BYTES) * (long) Configuration.PAGE_BYTES;
    }

    /** Creates the queues. The thread has acquired the admin queue. */
    private static void createQueues(
            Controller controller,
            int id,
            int depth,
            int completionEntries,
            DmaAllocation memory,
            Deadline deadline)
            throws FabricException {
        var completionPage =
                (int) (pages((long) (depth + 1) * Command.BYTES) / Configuration.PAGE_BYTES);
        var completionPages =
                (int)
                        (pages((long) completionEntries * Completion.BYTES)
                                / Configuration.PAGE_BYTES);
        if (!memory.isContiguous(0, completionPage)
                || !memory.isContiguous(completionPage, completionPages)) {
            throw new NvmeException(
                    "creation of a queue with the depth %d in memory that is not contiguous"
                            .formatted(depth),
                    controller.toString(),
                    Status.INVALID_FIELD.encode());
        }
        var _ =
                controller
                        .admin()
                        .executeNext(
                                "creation of completion queue " + id,
                                Command.admin(AdminOpcode.CREATE_COMPLETION_QUEUE)
                                        .withData(memory.pageAddress(completionPage), 0)
                                        .withDwords(
                                                (completionEntries - 1) << 16 | id, CONTIGUOUS, 0),
                                deadline);
        try {
            var _ =
                    controller
                            .admin()
                            .executeNext(
                                    "creation of submission queue " + id,
                                    Command.admin(AdminOpcode.CREATE_SUBMISSION_QUEUE)
                                            .withData(memory.pageAddress(0), 0)
                                            .withDwords(depth << 16 | id, id << 16 | CONTIGUOUS, 0),
                                    deadline);
        } catch (NvmeException e) {
            if (e.code() != 0) {
                deleteUnused(controller, id, e);
            }
            throw e;
        }
    }

    /** Deletes a completion queue for which the controller refused a submission queue. */
    private static void deleteUnused(Controller controller, int id, NvmeException refusal)
            throws NvmeException {
        try {
            delete(controller, AdminOpcode.DELETE_COMPLETION_QUEUE, id, controller.deadline());
        } catch (FabricException e) {
            var failure = new NvmeException(refusal.getMessage() + " " + e.getMessage());
            failure.addSuppressed(e);
            throw failure;
        }
    }

    private static void delete(Controller controller, int opcode, int id, Deadline deadline)
            throws FabricException {
        var kind =
                opcode == AdminOpcode.DELETE_COMPLETION_QUEUE
                        ? "completion queue "
                        : "submission queue ";
        var _ =
                controller
                        .admin()
                        .execute(
                                "deletion of " + kind + id,
                                Command.admin(opcode).withDwords(id, 0, 0),
                                deadline);
    }

    /**
     * Deletes the queues. The controller does not access the memory of pending commands after that.
     * If the deletion fails, all memory remains allocated until the drive is closed.
     */
    private void destroy() throws FabricException {
        var deadline = controller.deadline();
        Interrupts.defer(() -> {
            delete(controller, AdminOpcode.DELETE_SUBMISSION_QUEUE, id, deadline);
            delete(controller, AdminOpcode.DELETE_COMPLETION_QUEUE, id, deadline);
        });
        for (var slot = 0; slot < depth; slot++) {
            releaseMemory(slot);
        }
        controller.free(memory);
        controller.returnQueueId(id);
    }

    /** Keeps memory allocated while the command in a slot is pending. */
    void holdMemory(int slot, DmaMemory data) {
        data.hold();
        pending[slot] = data;
    }

    void releaseMemory(int slot) {
        var data = pending[slot];
        if (data != null) {
            pending[slot] = null;
            data.release();
        }
    }

    Controller controller() {
        return controller;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    int id() {
        return id;
    }

    int depth() {
        return depth;
    }

    int completionEntries() {
        return completionEntries;
    }

    DmaAllocation memory() {
        return memory;
    }

    long completionOffset() {
        return completionOffset;
    }

    /** Returns the offset of the page of addresses of a slot. */
    long listOffset(int slot) {
        return listOffset + (long) slot * Configuration.PAGE_BYTES;
    }
}
