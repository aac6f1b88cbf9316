package org.jrdma.nvme.soft;

import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.Status;
import org.jrdma.soft.sisci.device.DeviceBus;
import org.jspecify.annotations.Nullable;

/** The queues of a controller by their ids. The admin queues have the id 0. */
final class QueueSet {

    static final int MAX_IO_QUEUES = 64;
    static final int MAX_ENTRIES = 1024;
    static final int VECTORS = MAX_IO_QUEUES + 1;

    private static final int CONTIGUOUS = 1;
    private static final int INTERRUPTS = 1 << 1;

    private final DeviceBus bus;
    private final AsyncEvents events;
    private final @Nullable SubmissionQueue[] submissions =
            new @Nullable SubmissionQueue[MAX_IO_QUEUES + 1];
    private final @Nullable CompletionQueue[] completions =
            new @Nullable CompletionQueue[MAX_IO_QUEUES + 1];

    QueueSet(DeviceBus bus, AsyncEvents events) {
        this.bus = bus;
        this.events = events;
    }

    @Nullable SubmissionQueue submission(int id) {
        return submissions[id];
    }

    @Nullable CompletionQueue completion(int id) {
        return completions[id];
    }

    boolean hasIoQueues() {
        for (var id = 1; id <= MAX_IO_QUEUES; id++) {
            if (submissions[id] != null || completions[id] != null) {
                return true;
            }
        }
        return false;
    }

    void clear() {
        for (var id = 0; id <= MAX_IO_QUEUES; id++) {
            submissions[id] = null;
            completions[id] = null;
        }
    }

    /** Removes the queues of a borrower. */
    void removeQueuesOf(int borrower) {
        for (var id = 0; id <= MAX_IO_QUEUES; id++) {
            var submission = submissions[id];
            if (submission != null && submission.borrower() == borrower) {
                submissions[id] = null;
            }
            var completion = completions[id];
            if (completion != null && completion.borrower() == borrower) {
                completions[id] = null;
            }
        }
    }

    /**
     * Creates the admin queues.
     *
     * @return false if the addresses or sizes are invalid
     */
    boolean createAdminQueues(
            long submissionAddress,
            int submissionEntries,
            long completionAddress,
            int completionEntries) {
        var borrower = owner(submissionAddress, submissionEntries * Command.BYTES);
        if (submissionEntries < 2
                || completionEntries < 2
                || isMisaligned(submissionAddress)
                || isMisaligned(completionAddress)
                || borrower == DeviceBus.NO_BORROWER
                || owner(completionAddress, completionEntries * Completion.BYTES) != borrower) {
            return false;
        }
        var completion =
                new CompletionQueue(0, memory(completionAddress), completionEntries, borrower, 0);
        completions[0] = completion;
        submissions[0] =
                new SubmissionQueue(0, memory(submissionAddress), submissionEntries, completion);
        return true;
    }

    private QueueMemory memory(long address) {
        return new QueueMemory(bus, events, address);
    }

    private static boolean isMisaligned(long address) {
        return address % Configuration.PAGE_BYTES != 0;
    }

    /** Returns the borrower in whose range a queue lies, or {@link DeviceBus#NO_BORROWER}. */
    private int owner(long address, int bytes) {
        var first = bus.borrowerAt(address);
        var last = bus.borrowerAt(address + bytes - 1);
        return first == last ? first : DeviceBus.NO_BORROWER;
    }

    void createCompletionQueue(Command command, int granted) throws CommandException {
        var id = command.dword10() & 0xffff;
        CommandException.require(
                id >= 1 && id <= granted && completions[id] == null, Status.INVALID_QUEUE_ID);
        var entries = entries(command);
        var flags = command.dword11() & 0xffff;
        var vector = command.dword11() >>> 16;
        CommandException.require(
                (flags & INTERRUPTS) == 0 || vector < VECTORS, Status.INVALID_INTERRUPT_VECTOR);
        var borrower = requireMemory(command, entries * Completion.BYTES);
        completions[id] =
                new CompletionQueue(
                        id,
                        memory(command.prp1()),
                        entries,
                        borrower,
                        (flags & INTERRUPTS) != 0 ? vector : CompletionQueue.NO_VECTOR);
    }

    void createSubmissionQueue(Command command, int granted) throws CommandException {
        var id = command.dword10() & 0xffff;
        CommandException.require(
                id >= 1 && id <= granted && submissions[id] == null, Status.INVALID_QUEUE_ID);
        var entries = entries(command);
        var completionId = command.dword11() >>> 16;
        CommandException.require(
                completionId >= 1 && completionId <= granted, Status.INVALID_QUEUE_ID);
        var completion = completions[completionId];
        if (completion == null) {
            throw new CommandException(Status.INVALID_COMPLETION_QUEUE);
        }
        var borrower = requireMemory(command, entries * Command.BYTES);
        CommandException.require(borrower == completion.borrower(), Status.INVALID_FIELD);
        submissions[id] = new SubmissionQueue(id, memory(command.prp1()), entries, completion);
        completion.submissionQueueAdded();
    }

    private static int entries(Command command) throws CommandException {
        var entries = (command.dword10() >>> 16) + 1;
        CommandException.require(entries >= 2 && entries <= MAX_ENTRIES, Status.INVALID_QUEUE_SIZE);
        return entries;
    }

    /** Checks the memory of a new queue, and returns its borrower. */
    private int requireMemory(Command command, int bytes) throws CommandException {
        CommandException.require((command.dword11() & CONTIGUOUS) != 0, Status.INVALID_FIELD);
        CommandException.require(!isMisaligned(command.prp1()), Status.PRP_OFFSET_INVALID);
        var borrower = owner(command.prp1(), bytes);
        CommandException.require(borrower != DeviceBus.NO_BORROWER, Status.INVALID_FIELD);
        return borrower;
    }

    /** Deletes a submission queue and returns its id. */
    int deleteSubmissionQueue(Command command) throws CommandException {
        var id = requireId(command);
        var queue = submissions[id];
        if (queue == null) {
            throw new CommandException(Status.INVALID_QUEUE_ID);
        }
        submissions[id] = null;
        queue.completions().submissionQueueRemoved();
        return id;
    }

    /** Deletes a completion queue and returns its id. */
    int deleteCompletionQueue(Command command) throws CommandException {
        var id = requireId(command);
        var queue = completions[id];
        if (queue == null) {
            throw new CommandException(Status.INVALID_QUEUE_ID);
        }
        CommandException.require(!queue.hasSubmissionQueues(), Status.INVALID_QUEUE_DELETION);
        completions[id] = null;
        return id;
    }

    private static int requireId(Command command) throws CommandException {
        var id = command.dword10() & 0xffff;
        CommandException.require(id >= 1 && id <= MAX_IO_QUEUES, Status.INVALID_QUEUE_ID);
        return id;
    }
}
