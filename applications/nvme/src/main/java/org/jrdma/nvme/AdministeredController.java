package org.jrdma.nvme;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.BitSet;
import java.util.function.Function;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.pcie.ControllerAccess;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A controller whose admin queue belongs to this program. */
final class AdministeredController extends PcieController {

    private static final Logger LOG = LoggerFactory.getLogger(AdministeredController.class);
    private static final Duration SHORTEST_RESET = Duration.ofSeconds(1);
    private static final int CONTIGUOUS = 1;

    private final AdminQueue admin;
    private final BitSet usedQueueIds = new BitSet();
    private int grantedQueues;
    private boolean hasTakenControl;

    AdministeredController(ControllerAccess access, NvmeOptions options) throws FabricException {
        super(access, options);
        this.admin = new AdminQueue(this, allocate(AdminQueue.BYTES));
    }

    /** Resets and starts the controller. */
    @Override
    void start() throws FabricException {
        readCapabilities();
        hasTakenControl = true;
        disable();
        registers()
                .write(
                        MappedRegisters.ADMIN_QUEUE_ATTRIBUTES,
                        MappedRegisters.adminQueueAttributes(
                                AdminQueue.ENTRIES, AdminQueue.ENTRIES));
        registers().writeLong(MappedRegisters.ADMIN_SUBMISSION_QUEUE, admin.submissionAddress());
        registers().writeLong(MappedRegisters.ADMIN_COMPLETION_QUEUE, admin.completionAddress());
        registers().write(MappedRegisters.INTERRUPT_MASK_SET, -1);
        registers().write(MappedRegisters.CONFIGURATION, Configuration.ENABLED.encode());
        awaitStatus(
                "become ready", resetTimeout(), status -> (status & MappedRegisters.READY) != 0);
        requestQueues();
        setHostIdentifier(options().hostIdentifier());
        readNamespaces(this);
    }

    private void setHostIdentifier(HostIdentifier host) throws FabricException {
        if (!host.isNone()) {
            admin.write(
                    "set-up of the host identifier",
                    Command.admin(AdminOpcode.SET_FEATURES)
                            .withDwords(
                                    FeatureId.HOST_IDENTIFIER,
                                    host.isExtended() ? HostIdentifier.EXTENDED : 0,
                                    0),
                    deadline(),
                    host::encode);
        }
    }

    private Duration resetTimeout() {
        var stated = Duration.ofMillis(capabilities().timeoutMillis());
        return stated.compareTo(SHORTEST_RESET) > 0 ? stated : SHORTEST_RESET;
    }

    private void requestQueues() throws FabricException {
        var requested = options().queues() - 1;
        var result =
                admin.execute(
                        "request of %d queues".formatted(options().queues()),
                        Command.admin(AdminOpcode.SET_FEATURES)
                                .withDwords(
                                        FeatureId.NUMBER_OF_QUEUES, requested << 16 | requested, 0),
                        deadline());
        grantedQueues = Math.min(options().queues(), Math.min(result & 0xffff, result >>> 16) + 1);
    }

    /** Resets the controller, after which it does not access memory. */
    private void disable() throws FabricException {
        var configuration = Configuration.decode(registers().read(MappedRegisters.CONFIGURATION));
        var deadline = Deadline.after(resetTimeout());
        if (configuration.enabled()) {
            // a driver that was killed may have left a start or a failure behind
            while ((readStatus() & (MappedRegisters.READY | MappedRegisters.FATAL)) == 0
                    && !deadline.hasPassed()) {
                pause(deadline, "become ready before its reset");
            }
            registers()
                    .write(
                            MappedRegisters.CONFIGURATION,
                            configuration.enabled(false).shutdown(0).encode());
        }
        deadline = Deadline.after(resetTimeout());
        while ((readStatus() & (MappedRegisters.READY | MappedRegisters.FATAL)) != 0) {
            pause(deadline, "complete its reset");
        }
    }

    @Override
    public <T> T read(AdminPageKind page, int namespace, Function<MemorySegment, T> decoder)
            throws FabricException {
        return admin.read(
                page.description(namespace), page.command(namespace), deadline(), decoder);
    }

    @Override
    int createQueue(QueueMemory memory, Runnable free) throws FabricException {
        int id;
        try {
            id = takeQueueId();
        } catch (NvmeException e) {
            free.run();
            throw e;
        }
        createQueue(id, memory, free);
        return id;
    }

    /**
     * Creates a queue pair with an id that {@link #takeQueueId()} has returned.
     *
     * @param free as specified for {@link #createQueue(QueueMemory, Runnable)}
     */
    void createQueue(int id, QueueMemory memory, Runnable free) throws FabricException {
        var isUnused = true; // false while the controller may use the memory
        var deadline = deadline();
        try {
            admin.acquire("creation of queue " + id, deadline);
            try {
                isUnused = false;
                createQueues(id, memory, deadline);
            } catch (NvmeException e) {
                isUnused = e.code() != 0; // the controller refused
                throw e;
            } finally {
                admin.release();
            }
        } catch (Throwable e) {
            if (isUnused) {
                free.run();
                returnQueueId(id);
            }
            throw e;
        }
    }

    /** Creates the queues. The thread has acquired the admin queue. */
    private void createQueues(int id, QueueMemory memory, Deadline deadline)
            throws FabricException {
        var _ =
                admin.executeNext(
                        "creation of completion queue " + id,
                        Command.admin(AdminOpcode.CREATE_COMPLETION_QUEUE)
                                .withData(memory.completionAddress(), 0)
                                .withDwords(
                                        (memory.completionEntries() - 1) << 16 | id, CONTIGUOUS, 0),
                        deadline);
        try {
            var _ =
                    admin.executeNext(
                            "creation of submission queue " + id,
                            Command.admin(AdminOpcode.CREATE_SUBMISSION_QUEUE)
                                    .withData(memory.submissionAddress(), 0)
                                    .withDwords(
                                            (memory.submissionEntries() - 1) << 16 | id,
                                            id << 16 | CONTIGUOUS,
                                            0),
                            deadline);
        } catch (NvmeException e) {
            if (e.code() != 0) {
                deleteUnused(id, e);
            }
            throw e;
        }
    }

    /** Deletes a completion queue for which the controller refused a submission queue. */
    private void deleteUnused(int id, NvmeException refusal) throws NvmeException {
        try {
            delete(AdminOpcode.DELETE_COMPLETION_QUEUE, id, deadline());
        } catch (FabricException e) {
            var failure = new NvmeException(refusal.getMessage() + " " + e.getMessage());
            failure.addSuppressed(e);
            throw failure;
        }
    }

    @Override
    void deleteQueue(int id) throws FabricException {
        var deadline = deadline();
        delete(AdminOpcode.DELETE_SUBMISSION_QUEUE, id, deadline);
        delete(AdminOpcode.DELETE_COMPLETION_QUEUE, id, deadline);
        returnQueueId(id);
    }

    private void delete(int opcode, int id, Deadline deadline) throws FabricException {
        var kind =
                opcode == AdminOpcode.DELETE_COMPLETION_QUEUE
                        ? "completion queue "
                        : "submission queue ";
        try {
            var _ =
                    admin.execute(
                            "deletion of " + kind + id,
                            Command.admin(opcode).withDwords(id, 0, 0),
                            deadline);
        } catch (NvmeException e) {
            // a software controller deletes the queues of a borrower that has ended
            if (e.status().filter(Status.INVALID_QUEUE_ID::equals).isEmpty()) {
                throw e;
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
                                .formatted(grantedQueues, this),
                        Status.INVALID_QUEUE_ID.encode());
            }
            usedQueueIds.set(id);
            return id;
        }
    }

    private void returnQueueId(int id) {
        synchronized (usedQueueIds) {
            usedQueueIds.clear(id);
        }
    }

    @Override
    void requireHostIdentifier() {
        if (options().hostIdentifier().isNone()) {
            throw new IllegalStateException(
                    "%s was opened without a host identifier, which reservations need. Set NvmeOptions.hostIdentifier()."
                            .formatted(this));
        }
    }

    @Override
    void release() throws FabricException {
        if (hasTakenControl && isOwnAdminQueue()) {
            shutDown();
            disable();
        }
    }

    /**
     * Returns false if another program has reset the controller since, and uses it. The controller
     * does not access the memory of this object then.
     */
    private boolean isOwnAdminQueue() {
        var address = registers().readLong(MappedRegisters.ADMIN_SUBMISSION_QUEUE);
        return address == admin.submissionAddress() || address == MappedRegisters.UNREACHABLE;
    }

    /** Asks the controller to make all data durable. A failure does not prevent the reset. */
    private void shutDown() throws FabricException {
        var status = readStatus();
        if ((status & MappedRegisters.READY) == 0 || (status & MappedRegisters.FATAL) != 0) {
            return;
        }
        registers()
                .write(
                        MappedRegisters.CONFIGURATION,
                        Configuration.ENABLED.shutdown(Configuration.NORMAL_SHUTDOWN).encode());
        try {
            awaitStatus(
                    "shut down",
                    options().adminTimeout(),
                    each ->
                            (each & MappedRegisters.SHUTDOWN_MASK)
                                            == MappedRegisters.SHUTDOWN_COMPLETE
                                    || (each & MappedRegisters.READY) == 0);
        } catch (FabricException e) {
            LOG.warn("{} was reset without a shutdown: {}", this, e.getMessage());
        }
    }
}
