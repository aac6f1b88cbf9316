package org.jrdma.nvme;

import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.pcie.DmaAllocation;

/**
 * The memory and the pending commands of an I/O queue. Does not refer to the {@link PcieQueue},
 * because the destructor of the queue uses it.
 */
final class QueueResources {

    private final PcieController controller;
    private final int id;
    private final int depth;
    private final int completionEntries;
    private final DmaAllocation memory;
    private final long completionOffset;
    private final long listOffset;
    private final PendingCommandMemory held;
    private final Lifetime lifetime;
    private volatile boolean isAbandoned;

    private QueueResources(
            PcieController controller,
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
        this.held = new PendingCommandMemory(depth);
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
    static QueueResources create(PcieController controller, int depth, Lifetime owner)
            throws FabricException {
        var maxEntries = controller.capabilities().maxQueueEntries();
        if (depth < 1 || depth > maxEntries - 2) {
            throw new IllegalArgumentException(
                    "The depth of a queue of %s is %d. It must be from 1 to %d."
                            .formatted(controller, depth, maxEntries - 2));
        }
        var completionEntries = Math.min(2 * (depth + 1), maxEntries);
        var completionOffset = pages((long) (depth + 1) * Command.BYTES);
        var completionBytes = pages((long) completionEntries * Completion.BYTES);
        var memory =
                controller.allocate(
                        completionOffset
                                + completionBytes
                                + (long) depth * Configuration.PAGE_BYTES);
        var completionPage = (int) (completionOffset / Configuration.PAGE_BYTES);
        if (!memory.isContiguous(0, completionPage)
                || !memory.isContiguous(
                        completionPage, (int) (completionBytes / Configuration.PAGE_BYTES))) {
            controller.free(memory);
            throw new NvmeException(
                    "creation of a queue with the depth %d in memory that is not contiguous"
                            .formatted(depth),
                    controller.toString(),
                    Status.INVALID_FIELD.encode());
        }
        var id =
                controller.createQueue(
                        new QueueMemory(
                                memory.pageAddress(0),
                                depth + 1,
                                memory.pageAddress(completionPage),
                                completionEntries),
                        () -> controller.free(memory));
        return new QueueResources(controller, id, depth, completionEntries, memory, owner);
    }

    private static long pages(long bytes) {
        return Math.ceilDiv(bytes, Configuration.PAGE_BYTES) * (long) Configuration.PAGE_BYTES;
    }

    /**
     * Deletes the queues. The controller does not access the memory of pending commands after that.
     * If the deletion fails, all memory remains allocated until the drive is closed.
     */
    private void destroy() throws FabricException {
        var isDeleted = false;
        try {
            ThreadInterruptDeferral.defer(() -> controller.deleteQueue(id));
            isDeleted = true;
        } finally {
            isAbandoned = !isDeleted;
        }
        held.releaseAll();
        controller.free(memory);
    }

    /** Returns true if the deletion of the queues has failed. */
    boolean isAbandoned() {
        return isAbandoned;
    }

    PendingCommandMemory held() {
        return held;
    }

    PcieController controller() {
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
