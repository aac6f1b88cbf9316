package org.jrdma.nvme;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.nvme.model.Capabilities;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.pcie.ControllerAccess;
import org.jrdma.nvme.pcie.DmaAllocation;

/** A controller whose registers and memory are accessible over PCIe. */
abstract sealed class PcieController extends AbstractController
        permits AdministeredController, SharedController {

    private static final long POLL_NANOS = 20_000;

    private final ControllerAccess access;
    private final MappedRegisters registers;
    private Capabilities capabilities = Capabilities.decode(0);

    PcieController(ControllerAccess access, NvmeOptions options) {
        super(options);
        this.access = access;
        this.registers = access.registers();
    }

    /**
     * Creates a queue pair and returns its id.
     *
     * @param free frees the memory. Runs if this method fails and the controller does not use the
     *     memory. After any other failure, the controller may use it.
     */
    abstract int createQueue(QueueMemory memory, Runnable free) throws FabricException;

    /** Deletes a queue pair. The controller does not access its memory any more after that. */
    abstract void deleteQueue(int id) throws FabricException;

    final MappedRegisters registers() {
        return registers;
    }

    final Capabilities capabilities() {
        return capabilities;
    }

    /** Reads the capabilities, and checks that this driver supports the controller. */
    final void readCapabilities() throws NvmeException {
        var register = registers.readLong(MappedRegisters.CAPABILITIES);
        if (register == MappedRegisters.UNREACHABLE) {
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
        if (ThreadInterruptDeferral.endWait()) {
            throw new NvmeException(
                    "Interrupted while waiting for %s to %s".formatted(access, goal));
        }
    }

    final int readStatus() throws NvmeException {
        var status = registers.read(MappedRegisters.STATUS);
        if (status == MappedRegisters.UNREACHABLE) {
            throw new NvmeException(
                    "%s is unreachable: its registers read as all ones".formatted(access));
        }
        return status;
    }

    /** Reads the status, and throws an exception if the controller has failed. */
    private int checkedStatus() throws NvmeException {
        var status = readStatus();
        if ((status & MappedRegisters.FATAL) != 0) {
            throw new NvmeException(
                    "%s reports a fatal error (CSTS 0x%x). Close the drive and open it again."
                            .formatted(access, status));
        }
        return status;
    }

    @Override
    final void checkRunning() throws NvmeException {
        var status = checkedStatus();
        if ((status & MappedRegisters.READY) == 0
                || (status & MappedRegisters.SHUTDOWN_MASK) != 0) {
            throw new NvmeException(
                    "%s was stopped by another program (CSTS 0x%x). Close the drive and open it again."
                            .formatted(access, status));
        }
    }

    @Override
    final NvmeQueue newQueue(int depth, Lifetime owner, int maxTransferBytes)
            throws FabricException {
        return new PcieQueue(QueueResources.create(this, depth, owner), maxTransferBytes);
    }

    @Override
    final DmaMemory newMemory(long bytes) throws FabricException {
        var allocation = allocate(bytes);
        return new DmaMemory(this, allocation, 0, () -> free(allocation));
    }

    final DmaAllocation allocate(long bytes) throws FabricException {
        return add(access.allocate(bytes));
    }

    @Override
    public final String toString() {
        return access.toString();
    }
}
