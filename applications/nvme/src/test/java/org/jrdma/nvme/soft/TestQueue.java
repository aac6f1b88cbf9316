package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.invoke.VarHandle;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.TestBorrower.Memory;

/** A submission queue and its completion queue, from the side of a driver that may be wrong. */
final class TestQueue {

    private static final int STRIDE = 4;
    private static final VarHandle INT = JAVA_INT.varHandle();

    private final MappedRegisters registers;
    private final int id;
    private final int entries;
    private final Memory submissions;
    private final Memory completions;
    private int tail;
    private int head;
    private int phase = 1;

    TestQueue(MappedRegisters registers, int id, int entries, TestBorrower borrower) {
        this.registers = registers;
        this.id = id;
        this.entries = entries;
        this.submissions = borrower.allocate((long) entries * Command.BYTES);
        this.completions = borrower.allocate((long) entries * Completion.BYTES);
    }

    int id() {
        return id;
    }

    int entries() {
        return entries;
    }

    Memory submissions() {
        return submissions;
    }

    Memory completions() {
        return completions;
    }

    /** Adds a command without ringing the doorbell. */
    void add(Command command) {
        command.encode(submissions.segment(), (long) tail * Command.BYTES);
        tail = (tail + 1) % entries;
    }

    void ring() {
        ringTail(tail);
    }

    void ringTail(int value) {
        registers.write(MappedRegisters.tailDoorbell(id, STRIDE), value);
    }

    void ringHead(int value) {
        registers.write(MappedRegisters.headDoorbell(id, STRIDE), value);
    }

    void submit(Command command) {
        add(command);
        ring();
    }

    boolean hasCompletion() {
        var last =
                (int)
                        INT.getAcquire(
                                completions.segment(),
                                (long) head * Completion.BYTES + Completion.LAST_DWORD);
        return Completion.phase(last) == phase;
    }

    /** Waits for a completion, and takes it without ringing the doorbell. */
    Completion take() {
        Harness.await(this::hasCompletion);
        var completion = Completion.decode(completions.segment(), (long) head * Completion.BYTES);
        head++;
        if (head == entries) {
            head = 0;
            phase ^= 1;
        }
        return completion;
    }

    Completion await() {
        var completion = take();
        ringHead(head);
        return completion;
    }

    Completion execute(Command command) {
        submit(command);
        return await();
    }

    /** Executes a command and returns its status. */
    Status status(Command command) {
        return Status.of(execute(command).status()).orElseThrow();
    }
}
