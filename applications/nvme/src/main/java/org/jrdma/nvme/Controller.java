package org.jrdma.nvme;

import java.time.Duration;
import java.util.BitSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Capabilities;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.Registers;
import org.jrdma.nvme.pcie.ControllerAccess;
import org.jrdma.nvme.pcie.DmaAllocation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A controller, its admin queue and its memory. Does not refer to the {@link NvmeDrive}, because
 * the destructor of the drive uses it. Safe for use by multiple threads after {@link #start()}.
 */
final class Controller {

    private static final Logger LOG = LoggerFactory.getLogger(Controller.class);
    private static final Duration SHORTEST_RESET = Duration.ofSeconds(1);
    private static final long POLL_NANOS = 20_000;

    private final ControllerAccess access;
    private final Registers registers;
    private final NvmeOptions options;
    private final Set<DmaAllocation> allocations = ConcurrentHashMap.newKeySet();
    private final BitSet usedQueueIds = new BitSet();
    private Capabilities capabilities = Capabilities.decode(0);
    private final AdminQueue admin;
    private int grantedQueues;
    private boolean hasTakenControl;
    private boolean stopped;

    Controller(ControllerAccess access, NvmeOptions options) throws FabricException {
        this.access = access;
        this.registers = access.registers();
        this.options = options;
        this.admin = new AdminQueue(this, allocate(AdminQueue.BYTES));
    }

    Registers registers() {
        return registers;
    }

    NvmeOptions options() {
        return options;
    }

    AdminQueue admin() {
        return admin;
    }

    Capabilities capabilities() {
        return capabilities;
    }

    /** Resets and starts the controller. */
    void start() throws FabricException {
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
        hasTakenControl = true;
        disable();
        registers.write(
                Registers.ADMIN_QUEUE_ATTRIBUTES,
                Registers.adminQueueAttributes(AdminQueue.ENTRIES, AdminQueue.ENTRIES));
        registers.writeLong(Registers.ADMIN_SUBMISSION_QUEUE, admin.submissionAddress());
        registers.writeLong(Registers.ADMIN_COMPLETION_QUEUE, admin.completionAddress());
        registers.write(Registers.INTERRUPT_MASK_SET, -1);
        registers.write(Registers.CONFIGURATION, Configuration.ENABLED.encode());
        awaitStatus("become ready", resetTimeout(), status -> (status & Registers.READY) != 0);
        requestQueues();
    }

    private Duration resetTimeout() {
        var stated = Duration.ofMillis(capabilities.timeoutMillis());
        return stated.compareTo(SHORTEST_RESET) > 0 ? stated : SHORTEST_RESET;
    }

    private void requestQueues() throws FabricException {
        var requested = options.queues() - 1;
        var result =
                admin.execute(
                        "request of %d queues".formatted(options.queues()),
                        Command.admin(AdminOpcode.SET_FEATURES)
                                .withDwords(
                                        FeatureId.NUMBER_OF_QUEUES, requested << 16 | requested, 0),
                        deadline());
        grantedQueues = Math.min(options.queues(), Math.min(result & 0xffff, result >>> 16) + 1);
    }

    Deadline deadline() {
        return Deadline.after(options.adminTimeout());
    }

    /** Resets the controller, after which it does not access memory. */
    private void disable() throws FabricException {
        var configuration = Configuration.decode(registers.read(Registers.CONFIGURATION));
        var deadline = Deadline.after(resetTimeout());
        if (configuration.enabled()) {
            // a driver that was killed may have left a start or a failure behind
            while ((readStatus() & (Registers.READY | Registers.FATAL)) == 0
                    && !deadline.hasPassed()) {
                pause(deadline, "become ready before its reset");
            }
            registers.write(
                    Registers.CONFIGURATION, configuration.enabled(false).shutdown(0).encode());
        }
        deadline = Deadline.after(resetTimeout());
        while ((readStatus() & (Registers.READY | Registers.FATAL)) != 0) {
            pause(deadline, "complete its reset");
        }
    }

    private void awaitStatus(String goal, Duration timeout, IntPredicate condition)
            throws FabricException {
        var deadline = Deadline.after(timeout);
        while (!condition.test(checkedStatus())) {
            pause(deadline, goal);
        }
    }

    private void pause(Deadline deadline, String goal) throws FabricException {
        if (deadline.hasPassed()) {
            throw deadline.missed("%s did not %s".formatted(access, goal));
        }
        LockSupport.parkNanos(POLL_NANOS);
        if (Interrupts.endWait()) {
            throw new NvmeException(
                    "Interrupted while waiting for %s to %s".formatted(access, goal));
        }
    }

    private int readStatus() throws NvmeException {
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
    void checkRunning() throws NvmeException {
        var status = checkedStatus();
        if ((status & Registers.READY) == 0 || (status & Registers.SHUTDOWN_MASK) != 0) {
            throw new NvmeException(
                    "%s was stopped by another program (CSTS 0x%x). Close the drive and open it again."
                            .formatted(access, status));
        }
    }

    /**
     * Shuts the controller down and frees all memory. If the controller does not stop, the memory
     * remains allocated until the {@link ControllerAccess} is closed.
     */
    synchronized void stop() {
        if (stopped) {
            return;
        }
        stopped = true;
        try {
            if (hasTakenControl && isOwnAdminQueue()) {
                Interrupts.defer(() -> {
                    shutDown();
                    disable();
                });
            }
            allocations.forEach(this::free);
        } catch (FabricException e) {
            LOG.warn(
                    "Cannot stop {}: {}. Its memory remains allocated until the access is closed.",
                    access,
                    e.getMessage());
        }
    }

    /**
     * Returns false if another program has reset the controller since, and uses it. The controller
     * does not access the memory of this object then.
     */
    private boolean isOwnAdminQueue() {
        var address = registers.readLong(Registers.ADMIN_SUBMISSION_QUEUE);
        return address == admin.submissionAddress() || address == Registers.UNREACHABLE;
    }

    /** Asks the controller to make all data durable. A failure does not prevent the reset. */
    private void shutDown() throws FabricException {
        var status = readStatus();
        if ((status & Registers.READY) == 0 || (status & Registers.FATAL) != 0) {
            return;
        }
        registers.write(
                Registers.CONFIGURATION,
                Configuration.ENABLED.shutdown(Configuration.NORMAL_SHUTDOWN).encode());
        try {
            awaitStatus(
                    "shut down",
                    options.adminTimeout(),
                    each ->
                            (each & Registers.SHUTDOWN_MASK) == Registers.SHUTDOWN_COMPLETE
                                    || (each & Registers.READY) == 0);
        } catch (FabricException e) {
            LOG.warn("{} was reset without a shutdown: {}", access, e.getMessage());
        }
    }

    DmaAllocation allocate(long bytes) throws FabricException {
        var allocation = access.allocate(bytes);
        allocations.add(allocation);
        return allocation;
    }

    /**
     * Frees memory that the controller does not access any more. If that fails, for example because
     * a native call uses the memory, it remains allocated until the {@link ControllerAccess} is
     * closed.
     */
    void free(DmaAllocation allocation) {
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

    /** Returns the id of a new I/O queue. */
    int takeQueueId() throws NvmeException {
        synchronized (usedQueueIds) {
            var id = usedQueueIds.nextClearBit(1);
            if (id > grantedQueues) {
                throw new NvmeException(
                        "Cannot create a queue: all %d queues of %s are in use. Close a queue, or raise the option queues."
                                .formatted(grantedQueues, access));
            }
            usedQueueIds.set(id);
            return id;
        }
    }

    void returnQueueId(int id) {
        synchronized (usedQueueIds) {
            usedQueueIds.clear(id);
        }
    }

    @Override
    public String toString() {
        return access.toString();
    }
}
