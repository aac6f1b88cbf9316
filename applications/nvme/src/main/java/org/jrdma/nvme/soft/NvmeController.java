package org.jrdma.nvme.soft;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Capabilities;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.jrdma.soft.sisci.device.DeviceBus;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.jrdma.soft.sisci.device.DeviceModel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An NVMe controller, revision 1.4, in software. BAR 0 has 16 KiB: the registers, the doorbells
 * from 0x1000, and the table of interrupt vectors (MSI-X) from 0x2000.
 *
 * <p>Several borrowers can use one controller: the borrower that owns the memory of the admin
 * queues creates I/O queues in its own memory or in the memory of other borrowers. A queue belongs
 * to the borrower that owns its memory. The commands of a queue can access only memory of the same
 * borrower. If a borrower ends, the controller deletes the queues of this borrower. The registers
 * are accessible to all borrowers: every borrower can reset the controller.
 *
 * <p>All methods of {@link DeviceModel} are called by the {@link
 * org.jrdma.soft.sisci.device.DeviceHost}.
 */
public final class NvmeController implements DeviceModel {

    private static final Logger LOG = LoggerFactory.getLogger(NvmeController.class);
    private static final int DEVICE_ID = 0x0010;
    private static final int CLASS_CODE = 0x010802;
    private static final int BAR_BYTES = 0x4000;
    private static final int DOORBELL_STRIDE = 4;
    private static final int TIMEOUT_MILLIS = 2000;

    private static final Capabilities CAPABILITIES =
            new Capabilities(
                    QueueSet.MAX_ENTRIES,
                    true,
                    TIMEOUT_MILLIS,
                    DOORBELL_STRIDE,
                    true,
                    Configuration.PAGE_SHIFT,
                    Configuration.PAGE_SHIFT);

    private static final int COMMANDS_PER_POLL = 64;

    /** The limit of the cost of the commands of a poll. One command can exceed it. */
    static final long BYTES_PER_POLL = 2 << 20;

    private static final long COMMAND_COST = Configuration.PAGE_BYTES;

    private enum State {
        DISABLED,
        READY,
        SHUT_DOWN,
        FAILED
    }

    private final Subsystem subsystem;
    private final int id;
    private final DeviceIdentity identity;

    /** Exists from {@link #attach} on. */
    private @Nullable Parts parts;

    private State state = State.DISABLED;
    private int configuration;
    private int nextQueue = 1;
    private int nextUnusedDoorbell;
    private final AtomicInteger failures = new AtomicInteger();

    /** The parts of this controller that use the bus. */
    private record Parts(
            MappedRegisters registers,
            QueueSet queues,
            InterruptVectors interrupts,
            PrpBuffer data,
            ControllerCore core,
            NvmCommands nvm) {}

    NvmeController(Subsystem subsystem, int id) {
        this.subsystem = subsystem;
        this.id = id;
        this.identity =
                new DeviceIdentity(
                        Subsystem.VENDOR_ID,
                        DEVICE_ID,
                        CLASS_CODE,
                        Subsystem.VENDOR_ID,
                        id & 0xffff,
                        subsystem.uuid("controller " + id).getMostSignificantBits(),
                        subsystem.modelNumber());
    }

    @Override
    public DeviceIdentity identity() {
        return identity;
    }

    @Override
    public List<Integer> barBytes() {
        return List.of(BAR_BYTES);
    }

    @Override
    public void attach(DeviceBus bus) {
        var previous = parts;
        if (previous != null) {
            previous.core().close();
        }
        var data = new PrpBuffer(bus);
        var registers = new MappedRegisters(bus.bar(0));
        var core = new ControllerCore(subsystem, id, data, QueueSet.MAX_IO_QUEUES, null);
        parts =
                new Parts(
                        registers,
                        new QueueSet(bus, core.events()),
                        new InterruptVectors(bus, registers),
                        data,
                        core,
                        core.newCommands(data));
        reset();
    }

    private Parts parts() {
        var all = parts;
        if (all == null) {
            throw new IllegalStateException("The controller is not attached to a bus");
        }
        return all;
    }

    private AsyncEvents events() {
        return parts().core().events();
    }

    @Override
    public void reset() {
        var registers = parts().registers();
        registers.memory().fill((byte) 0);
        disable();
    }

    /** Deletes all queues, and publishes the registers of a disabled controller. */
    private void disable() {
        var all = parts();
        all.queues().clear();
        all.core().reset();
        for (var queue = 0; queue <= QueueSet.MAX_IO_QUEUES; queue++) {
            clearDoorbell(MappedRegisters.tailDoorbell(queue, DOORBELL_STRIDE));
            clearDoorbell(MappedRegisters.headDoorbell(queue, DOORBELL_STRIDE));
        }
        configuration = 0;
        all.registers().writeLong(MappedRegisters.CAPABILITIES, CAPABILITIES.encode());
        all.registers().write(MappedRegisters.VERSION, MappedRegisters.VERSION_1_4);
        enter(State.DISABLED, 0);
    }

    private void clearDoorbell(long doorbell) {
        parts().registers().write(doorbell, 0);
    }

    private void enter(State newState, int status) {
        state = newState;
        parts().registers().write(MappedRegisters.STATUS, status);
    }

    @Override
    public boolean poll() {
        var isBusy = applyConfiguration();
        if (state == State.READY) {
            pollDoorbells();
            parts().core().takeNotices();
            isBusy |= executeCommands();
            isBusy |= reportEvents();
            parts().interrupts().send(parts().queues());
        }
        return isBusy;
    }

    private boolean applyConfiguration() {
        var register = parts().registers().read(MappedRegisters.CONFIGURATION);
        if (register == configuration) {
            return false;
        }
        var wanted = Configuration.decode(register);
        if (!wanted.enabled()) {
            disable();
        } else if (state == State.DISABLED) {
            enable(wanted);
        }
        configuration = register;
        if (wanted.shutdown() != 0) {
            shutDown();
        }
        return true;
    }

    private void enable(Configuration wanted) {
        var registers = parts().registers();
        var sizes = registers.read(MappedRegisters.ADMIN_QUEUE_ATTRIBUTES);
        var isValid =
                wanted.enabled(true).shutdown(0).equals(Configuration.ENABLED)
                        && parts().queues()
                                .createAdminQueues(
                                        registers.readLong(MappedRegisters.ADMIN_SUBMISSION_QUEUE),
                                        MappedRegisters.adminSubmissionEntries(sizes),
                                        registers.readLong(MappedRegisters.ADMIN_COMPLETION_QUEUE),
                                        MappedRegisters.adminCompletionEntries(sizes));
        if (isValid) {
            enter(State.READY, MappedRegisters.READY);
        } else {
            enter(State.FAILED, MappedRegisters.FATAL);
        }
    }

    private void shutDown() {
        if (state != State.READY && state != State.DISABLED) {
            return;
        }
        parts().core().flushAll();
        if (state == State.READY) {
            enter(State.SHUT_DOWN, MappedRegisters.SHUTDOWN_COMPLETE | MappedRegisters.READY);
        } else {
            enter(State.DISABLED, MappedRegisters.SHUTDOWN_COMPLETE);
        }
    }

    private void pollDoorbells() {
        var queues = parts().queues();
        var registers = parts().registers();
        for (var queue = 0; queue <= QueueSet.MAX_IO_QUEUES; queue++) {
            var submission = queues.submission(queue);
            if (submission != null
                    && !submission.ring(
                            registers.read(MappedRegisters.tailDoorbell(queue, DOORBELL_STRIDE)))) {
                events().add(AsyncEvent.INVALID_DOORBELL_VALUE);
            }
            var completion = queues.completion(queue);
            if (completion != null) {
                completion.writeUnwritten();
            }
            if (completion != null
                    && !completion.ring(
                            registers.read(MappedRegisters.headDoorbell(queue, DOORBELL_STRIDE)))) {
                events().add(AsyncEvent.INVALID_DOORBELL_VALUE);
            }
        }
        nextUnusedDoorbell =
                nextUnusedDoorbell == QueueSet.MAX_IO_QUEUES ? 0 : nextUnusedDoorbell + 1;
        checkUnusedDoorbells(nextUnusedDoorbell);
    }

    /** Reports a store to a doorbell of a queue that does not exist. */
    private void checkUnusedDoorbells(int queue) {
        if (parts().queues().submission(queue) == null) {
            checkUnusedDoorbell(MappedRegisters.tailDoorbell(queue, DOORBELL_STRIDE));
        }
        if (parts().queues().completion(queue) == null) {
            checkUnusedDoorbell(MappedRegisters.headDoorbell(queue, DOORBELL_STRIDE));
        }
    }

    private void checkUnusedDoorbell(long doorbell) {
        if (parts().registers().read(doorbell) != 0) {
            clearDoorbell(doorbell);
            events().add(AsyncEvent.UNKNOWN_DOORBELL);
        }
    }

    /** Executes a bounded number of commands, one of each queue in turn. */
    private boolean executeCommands() {
        var left = BYTES_PER_POLL;
        var commands = 0;
        var isIdle = false;
        while (!isIdle && left > 0 && commands < COMMANDS_PER_POLL) {
            isIdle = true;
            for (var i = 0; i <= QueueSet.MAX_IO_QUEUES && left > 0; i++) {
                var queue = parts().queues().submission(nextQueue);
                nextQueue = nextQueue == QueueSet.MAX_IO_QUEUES ? 0 : nextQueue + 1;
                if (queue != null && queue.isReady()) {
                    left -= executeOne(queue);
                    commands++;
                    isIdle = false;
                }
            }
        }
        return commands > 0;
    }

    /** Executes the next command of a queue, and returns its cost in bytes. */
    private long executeOne(SubmissionQueue queue) {
        var command = queue.next();
        if (command == null) {
            return COMMAND_COST;
        }
        try {
            CommandException.require(command.flags() == 0, Status.INVALID_FIELD);
            parts().data().owner(queue.borrower());
            if (queue.id() == 0) {
                executeAdmin(queue, command);
                return COMMAND_COST;
            }
            var cost = parts().nvm().execute(queue.progress(), command);
            if (!queue.progress().isSuspended()) {
                complete(queue, command.id(), 0, Status.SUCCESS);
            }
            return COMMAND_COST + cost;
        } catch (CommandException e) {
            parts().core().recordFailure(queue.id(), command, e);
            complete(queue, command.id(), 0, e.status());
        } catch (Throwable e) { // such as OutOfMemoryError: the driver waits for a completion
            logFailure(e);
            complete(queue, command.id(), 0, Status.INTERNAL_ERROR);
        }
        return BYTES_PER_POLL; // a failed command may have taken long
    }

    /** Logs the first failure only, because a driver may repeat the command. */
    private void logFailure(Throwable failure) {
        if (failures.getAndIncrement() == 0) {
            LOG.error(
                    "A command failed on \"{}\". Further failures are not logged.",
                    identity.name(),
                    failure);
        }
    }

    private void executeAdmin(SubmissionQueue queue, Command command) throws CommandException {
        CommandException.require(!events().isRequested(command.id()), Status.COMMAND_ID_CONFLICT);
        switch (command.opcode()) {
            case AdminOpcode.ASYNC_EVENT_REQUEST -> events().request(command.id());
            case AdminOpcode.ABORT ->
                    complete(queue, command.id(), abort(queue, command), Status.SUCCESS);
            case AdminOpcode.CREATE_COMPLETION_QUEUE -> {
                parts().queues().createCompletionQueue(command, ioQueues());
                complete(queue, command.id(), 0, Status.SUCCESS);
            }
            case AdminOpcode.CREATE_SUBMISSION_QUEUE -> {
                parts().queues().createSubmissionQueue(command, ioQueues());
                complete(queue, command.id(), 0, Status.SUCCESS);
            }
            case AdminOpcode.DELETE_SUBMISSION_QUEUE -> {
                var deleted = parts().queues().deleteSubmissionQueue(command);
                clearDoorbell(MappedRegisters.tailDoorbell(deleted, DOORBELL_STRIDE));
                complete(queue, command.id(), 0, Status.SUCCESS);
            }
            case AdminOpcode.DELETE_COMPLETION_QUEUE -> {
                var deleted = parts().queues().deleteCompletionQueue(command);
                clearDoorbell(MappedRegisters.headDoorbell(deleted, DOORBELL_STRIDE));
                complete(queue, command.id(), 0, Status.SUCCESS);
            }
            default ->
                    complete(
                            queue,
                            command.id(),
                            parts().core().admin().execute(command, parts().queues().hasIoQueues()),
                            Status.SUCCESS);
        }
    }

    private int ioQueues() {
        return parts().core().features().ioQueues();
    }

    /**
     * Aborts an asynchronous event request. All other commands have been executed.
     *
     * @return 0 if the command was aborted, otherwise 1
     */
    private int abort(SubmissionQueue admin, Command command) {
        var queue = command.dword10() & 0xffff;
        var commandId = command.dword10() >>> 16;
        // the completion queue needs another entry for the completion of the abort command
        if (queue == 0 && admin.completions().free() > 1 && events().abort(commandId)) {
            complete(admin, commandId, 0, Status.ABORT_REQUESTED);
            return 0;
        }
        return 1;
    }

    /** Returns the number of commands that failed with {@link Status#INTERNAL_ERROR}. */
    int failures() {
        return failures.get();
    }

    private static void complete(SubmissionQueue queue, int commandId, int result, Status status) {
        queue.completions().add(queue, commandId, result, status.encode());
    }

    private boolean reportEvents() {
        var admin = parts().queues().submission(0);
        var isBusy = false;
        while (admin != null && admin.completions().free() > 0) {
            var report = events().next();
            if (report == null) {
                break;
            }
            complete(admin, report.commandId(), report.event().encode(), Status.SUCCESS);
            isBusy = true;
        }
        return isBusy;
    }

    @Override
    public void detached(int borrower) {
        var queues = parts().queues();
        var isManager = queues.submission(0) != null && adminBorrower() == borrower;
        queues.removeQueuesOf(borrower);
        parts().interrupts().clearUnused();
        if (isManager) {
            events().dropRequests();
        }
        for (var queue = 0; queue <= QueueSet.MAX_IO_QUEUES; queue++) {
            if (queues.submission(queue) == null) {
                clearDoorbell(MappedRegisters.tailDoorbell(queue, DOORBELL_STRIDE));
            }
            if (queues.completion(queue) == null) {
                clearDoorbell(MappedRegisters.headDoorbell(queue, DOORBELL_STRIDE));
            }
        }
    }

    private int adminBorrower() {
        var admin = parts().queues().submission(0);
        return admin == null ? DeviceBus.NO_BORROWER : admin.borrower();
    }
}
