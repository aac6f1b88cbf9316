package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.pcie.DmaAllocation;

/**
 * The admin queue of a controller, which executes one command after the other. A timeout ends only
 * the wait: the next command waits until the last one has completed, because both use the same page
 * of data. Safe for use by multiple threads.
 */
final class AdminQueue {

    static final int ENTRIES = 32;

    /** The size of the memory: one page each for submissions, completions and data. */
    static final int BYTES = 3 * Configuration.PAGE_BYTES;

    private static final VarHandle INT = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final int SPINS = 200;
    private static final long PAUSE_NANOS = 20_000;

    private final AdministeredController controller;
    private final DmaAllocation memory;
    private final MemorySegment submissions;
    private final MemorySegment completions;
    private final MemorySegment data;
    private final AdminQueueLock lock;
    private int tail;
    private int head;
    private int phase = 1;
    private int nextId;
    private boolean pending;

    AdminQueue(AdministeredController controller, DmaAllocation memory) {
        this.controller = controller;
        this.lock = new AdminQueueLock(controller);
        this.memory = memory;
        this.submissions = memory.memory().asSlice(0, Configuration.PAGE_BYTES);
        this.completions =
                memory.memory().asSlice(Configuration.PAGE_BYTES, Configuration.PAGE_BYTES);
        this.data =
                memory.memory().asSlice(2L * Configuration.PAGE_BYTES, Configuration.PAGE_BYTES);
    }

    long submissionAddress() {
        return memory.pageAddress(0);
    }

    long completionAddress() {
        return memory.pageAddress(1);
    }

    /**
     * Executes a command without data.
     *
     * @param name the command with its values, for messages
     * @return the result of the completion
     */
    int execute(String name, Command command, Deadline deadline) throws FabricException {
        acquire(name, deadline);
        try {
            return executeNext(name, command, deadline);
        } finally {
            release();
        }
    }

    /**
     * Executes a command that reads one page.
     *
     * @param decoder decodes the page
     */
    <T> T read(String name, Command command, Deadline deadline, Function<MemorySegment, T> decoder)
            throws FabricException {
        acquire(name, deadline);
        try {
            data.fill((byte) 0);
            var _ = executeNext(name, command.withData(memory.pageAddress(2), 0), deadline);
            return decoder.apply(data);
        } finally {
            release();
        }
    }

    /**
     * Executes a command that writes a part of a page.
     *
     * @param encoder encodes the data into the zeroed page
     */
    void write(String name, Command command, Deadline deadline, Consumer<MemorySegment> encoder)
            throws FabricException {
        acquire(name, deadline);
        try {
            encoder.accept(data.fill((byte) 0));
            var _ = executeNext(name, command.withData(memory.pageAddress(2), 0), deadline);
        } finally {
            release();
        }
    }

    /**
     * Waits for the commands of other threads. Only the current thread can execute commands until
     * {@link #release()}. If this method fails, the controller has seen no command.
     *
     * @param name the next command with its values, for messages
     */
    void acquire(String name, Deadline deadline) throws FabricException {
        lock.lock(name, deadline);
        try {
            if (pending) {
                var _ = awaitCompletion(name, deadline);
            }
            controller.checkRunning();
        } catch (Throwable e) {
            release();
            throw e;
        }
    }

    void release() {
        lock.unlock();
    }

    /** Executes a command without data. The thread has acquired this queue. */
    int executeNext(String name, Command command, Deadline deadline) throws FabricException {
        nextId = (nextId + 1) & 0xffff;
        command.withId(nextId).encode(submissions, (long) tail * Command.BYTES);
        tail = (tail + 1) % ENTRIES;
        pending = true;
        var registers = controller.registers();
        var stride = controller.capabilities().doorbellStride();
        registers.write(MappedRegisters.tailDoorbell(0, stride), tail);
        var completion = awaitCompletion(name, deadline);
        if (completion.status() != 0) {
            throw new NvmeException(name, controller.toString(), completion.status());
        }
        return completion.result();
    }

    private Completion awaitCompletion(String name, Deadline deadline) throws FabricException {
        var offset = (long) head * Completion.BYTES;
        for (var polls = 0; !hasCompletion(offset); polls++) {
            if (polls < SPINS) {
                Thread.onSpinWait();
                continue;
            }
            controller.checkRunning();
            if (deadline.hasPassed()) {
                throw deadline.missed("%s did not complete %s".formatted(controller, name));
            }
            LockSupport.parkNanos(PAUSE_NANOS);
            if (ThreadInterruptDeferral.endWait()) {
                throw lock.interrupted(name);
            }
        }
        var completion = Completion.decode(completions, offset);
        head = (head + 1) % ENTRIES;
        phase = head == 0 ? 1 - phase : phase;
        pending = false;
        var stride = controller.capabilities().doorbellStride();
        controller.registers().write(MappedRegisters.headDoorbell(0, stride), head);
        if (completion.commandId() != nextId) {
            throw new NvmeException(
                    "%s completed the unknown admin command %d instead of %s"
                            .formatted(controller, completion.commandId(), name));
        }
        return completion;
    }

    private boolean hasCompletion(long offset) {
        var last = (int) INT.getAcquire(completions, offset + Completion.LAST_DWORD);
        return Completion.phase(last) == phase;
    }
}
