package org.jrdma.nvme;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.nvme.pcie.DmaAllocation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A controller and its memory. Does not refer to the {@link NvmeDrive}, because the destructor of
 * the drive uses it. Safe for use by multiple threads after {@link #start()}.
 */
abstract sealed class AbstractController implements AdminPageReader
        permits PcieController, RdmaController {

    private static final Logger LOG = LoggerFactory.getLogger(AbstractController.class);

    private final NvmeOptions options;
    private final Set<DmaAllocation> allocations = ConcurrentHashMap.newKeySet();
    private volatile List<NvmeNamespace> namespaces = List.of();
    private boolean stopped;

    AbstractController(NvmeOptions options) {
        this.options = options;
    }

    /** Prepares the controller for admin commands, and reads its namespaces. */
    abstract void start() throws FabricException;

    /**
     * Creates an I/O queue.
     *
     * @param owner the lifetime of the drive, which the caller holds
     */
    abstract NvmeQueue newQueue(int depth, Lifetime owner, int maxTransferBytes)
            throws FabricException;

    /** Allocates zeroed memory for data. */
    abstract DmaMemory newMemory(long bytes) throws FabricException;

    /** Throws an exception if the controller has failed, or was reset by another program. */
    abstract void checkRunning() throws NvmeException;

    /** Throws an exception if it is known that the controller has no host identifier. */
    abstract void requireHostIdentifier();

    /** Makes the controller stop all accesses to the memory of this object. */
    abstract void release() throws FabricException;

    final NvmeOptions options() {
        return options;
    }

    /** Returns the namespaces that were read last. */
    final List<NvmeNamespace> namespaces() {
        return namespaces;
    }

    /** Reads the namespaces. Called by one thread at a time. */
    final void readNamespaces(AdminPageReader pages) throws FabricException {
        namespaces = NamespaceList.read(pages);
    }

    final Deadline deadline() {
        return Deadline.after(options.adminTimeout());
    }

    /**
     * Releases the controller and frees all memory. If the release fails, the memory remains
     * allocated until the access to the controller is closed.
     */
    final synchronized void stop() {
        if (stopped) {
            return;
        }
        stopped = true;
        try {
            ThreadInterruptDeferral.defer(this::release);
            allocations.forEach(this::free);
        } catch (FabricException e) {
            LOG.warn(
                    "Cannot stop {}: {}. Its memory remains allocated until the access is closed.",
                    this,
                    e.getMessage());
        }
    }

    /** Adds memory that {@link #free} or {@link #stop()} frees. */
    final DmaAllocation add(DmaAllocation allocation) {
        allocations.add(allocation);
        return allocation;
    }

    /**
     * Frees memory that the controller does not access any more. If that fails, for example because
     * a native call uses the memory, it remains allocated until the access to the controller is
     * closed.
     */
    final void free(DmaAllocation allocation) {
        if (allocations.remove(allocation)) {
            try {
                allocation.release();
            } catch (RuntimeException e) {
                LOG.warn(
                        "Cannot free memory of {}. It remains allocated until the access is closed.",
                        this,
                        e);
            }
        }
    }

    /** Returns true if memory of this object, which the controller can access, is in a range. */
    final boolean ownsMemoryIn(long address, long bytes) {
        return allocations.stream().anyMatch(each -> each.overlaps(address, bytes));
    }

    /** Returns the name of the controller for messages. */
    @Override
    public abstract String toString();
}
