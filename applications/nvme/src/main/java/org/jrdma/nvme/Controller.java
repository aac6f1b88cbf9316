package org.jrdma.nvme;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.IntPredicate;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Capabilities;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.Registers;
import org.jrdma.nvme.pcie.ControllerAccess;
import org.jrdma.nvme.pcie.DmaAllocation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A controller and its memory. Does not refer to the {@link NvmeDrive}, because the destructor of
 * the drive uses it. Safe for use by multiple threads after {@link #start()}.
 */
abstract sealed class Controller permits OwnedController, SharedController {

    private static final Logger LOG = LoggerFactory.getLogger(Controller.class);
    private static final long POLL_NANOS = 20_000;

    private final ControllerAccess access;
    private final Registers registers;
    private final NvmeOptions options;
    private final Set<DmaAllocation> allocations = ConcurrentHashMap.newKeySet();
    private Capabilities capabilities = Capabilities.decode(0);
    private boolean stopped;

    Controller(ControllerAccess access, NvmeOptions options) {
        this.access = access;
        this.registers = access.registers();
        this.options = options;
    }

    /** Prepares the controller for admin commands. */
    abstract void start() throws FabricException;

    /**
     * Reads a page of data that describes the controller.
     *
     * @param namespace the id of a namespace, or 0
     */
    abstract <T> T read(AdminPage page, int namespace, Function<MemorySegment, T> decoder)
            throws FabricException;

    /**
     * Creates a queue pair and returns its id.
     *
     * @param free frees the memory. Runs if this method fails and the controller does not use the
     *     memory. After any other failure, the controller may use it.
     */
    abstract int createQueue(QueueMemory memory, Runnable free) throws FabricException;

    /** Deletes a queue pair. The controller does not access its memory any more after that. */
    abstract void deleteQueue(int id) throws FabricException;

    /** Throws an exception if it is known that the controller has no host identifier. */
    abstract void requireHostIdentifier();

    /** Makes the controller stop all accesses to the memory of this object. */
    abstract void release() throws FabricException;

    final Registers registers() {
        return registers;
    }

    final NvmeOptions options() {
        return options;
    }

    final Capabilities capabilities() {
        return capabilities;
    }

    /** Reads the capabilities, and checks that this driver supports the controller. */
    final void readCapabilities() throws NvmeException {
        var register = registers.readLong(Registers.CAPABILITIES);
        if (register == Registers.UNREACHABLE) {
            throw new NvmeException(
                    "%s is unreachable: its registers read as all ones".formatted(access));
        }
        capabilities = Capabilities.decode(register);
        if (!capabilities.nvmCommands() || capabilities.minPageShift() > Configuration.PAGE_SHIFT) {
            throw new NvmeException(
                    "%s is not supported: the driver needs the NVM command set and pages of 4 KiB, but the capabilities are %s"
                            .formatted(access, capabilities));
        }
    }

    final Deadline deadline() {
        return Deadline.after(options.adminTimeout());
    }

    final void awaitStatus(String goal, Duration timeout, IntPredicate condition)
            throws FabricException {
        var deadline = Deadline.after(timeout);
        while (!condition.test(checkedStatus())) {
            pause(deadline, goal);
        }
    }

    final void pause(Deadline deadline, String goal) throws FabricException {
        if (deadline.hasPassed()) {
            throw deadline.missed("%s did not %s".formatted(access, goal));
        }
        LockSupport.parkNanos(POLL_NANOS);
        if (Interrupts.endWait()) {
            throw new NvmeException(
                    "Interrupted while waiting for %s to %s".formatted(access, goal));
        }
    }

    final int readStatus() throws NvmeException {
        var status = registers.read(Registers.STATUS);
        if (status == Registers.UNREACHABLE) {
            throw new NvmeException(
                    "%s is unreachable: its registers read as all ones".formatted(access));
        }
        return status;
    }

    /** Reads the status, and throws an exception if the controller has failed. */
    private int checkedStatus() throws NvmeException {
        var status = readStatus();
        if ((status & Registers.FATAL) != 0) {
            throw new NvmeException(
                    "%s reports a fatal error (CSTS 0x%x). Close the drive and open it again."
                            .formatted(access, status));
        }
        return status;
    }

    /** Throws an exception if the controller has failed, or was reset by another program. */
    final void checkRunning() throws NvmeException {
        var status = checkedStatus();
        if ((status & Registers.READY) == 0 || (status & Registers.SHUTDOWN_MASK) != 0) {
            throw new NvmeException(
                    "%s was stopped by another program (CSTS 0x%x). Close the drive and open it again."
                            .formatted(access, status));
        }
    }

    /**
     * Releases the controller and frees all memory. If the release fails, the memory remains
     * allocated until the {@link ControllerAccess} is closed.
     */
    final synchronized void stop() {
        if (stopped) {
            return;
        }
        stopped = true;
        try {
            Interrupts.defer(this::release);
            allocations.forEach(this::free);
        } catch (FabricException e) {
            LOG.warn(
                    "Cannot stop {}: {}. Its memory remains allocated until the access is closed.",
                    access,
                    e.getMessage());
        }
    }

    final DmaAllocation allocate(long bytes) throws FabricException {
        var allocation = access.allocate(bytes);
        allocations.add(allocation);
        return allocation;
    }

    /**
     * Frees memory that the controller does not access any more. If that fails, for example because
     * a native call uses the memory, it remains allocated until the {@link ControllerAccess} is
     * closed.
     */
    final void free(DmaAllocation allocation) {
        if (allocations.remove(allocation)) {
            try {
                allocation.release();
            } catch (RuntimeException e) {
                LOG.warn(
                        "Cannot free memory of {}. It remains allocated until the access is closed.",
                        access,
                        e);
            }
        }
    }

    /** Returns true if memory of this object, which the controller can access, is in a range. */
    final boolean ownsMemoryIn(long address, long bytes) {
        return allocations.stream().anyMatch(each -> each.overlaps(address, bytes));
    }

    @Override
    public final String toString() {
        return access.toString();
    }
}
