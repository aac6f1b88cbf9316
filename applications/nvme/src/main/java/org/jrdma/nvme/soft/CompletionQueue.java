package org.jrdma.nvme.soft;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jrdma.nvme.model.Completion;

/** A completion queue: a ring in the memory of a borrower, of which the controller has the tail. */
final class CompletionQueue {

    /** The vector of a queue without interrupts. */
    static final int NO_VECTOR = -1;

    private final int id;
    private final QueueMemory memory;
    private final int entries;
    private final int borrower;
    private final int vector;
    private final MemorySegment entry =
            MemorySegment.ofArray(new long[Completion.BYTES / Long.BYTES]);
    private int head;
    private int tail;
    private int phase = 1;
    private int doorbell;
    private int submissionQueues;
    private boolean interruptPending;

    /** The entries that were not written yet, because the memory was not accessible. */
    private final Deque<Completion> unwritten = new ArrayDeque<>();

    CompletionQueue(int id, QueueMemory memory, int entries, int borrower, int vector) {
        this.id = id;
        this.memory = memory;
        this.entries = entries;
        this.borrower = borrower;
        this.vector = vector;
    }

    int id() {
        return id;
    }

    int borrower() {
        return borrower;
    }

    /** Returns the interrupt vector, or {@link #NO_VECTOR}. */
    int vector() {
        return vector;
    }

    /** Returns the number of entries that can be added; 0 while the memory is not accessible. */
    int free() {
        return unwritten.isEmpty() ? (head - tail - 1 + entries) % entries : 0;
    }

    /**
     * Handles the value of the head doorbell.
     *
     * @return false if the value is invalid
     */
    boolean ring(int value) {
        if (value == doorbell) {
            return true;
        }
        doorbell = value;
        if (value < 0 || value >= entries) {
            return false;
        }
        var advance = (value - head + entries) % entries;
        var filled = (tail - head + entries) % entries;
        if (advance > filled) {
            return false;
        }
        head = value;
        return true;
    }

    /** Adds an entry. The queue must not be full. */
    void add(SubmissionQueue queue, int commandId, int result, int status) {
        var completion = new Completion(result, queue.head(), queue.id(), commandId, phase, status);
        if (!unwritten.isEmpty() || !write(completion)) {
            unwritten.add(completion);
        }
    }

    private boolean write(Completion completion) {
        completion.encode(entry, 0);
        if (!memory.write((long) tail * Completion.BYTES, entry)) {
            return false;
        }
        tail++;
        if (tail == entries) {
            tail = 0;
            phase ^= 1;
        }
        interruptPending = vector != NO_VECTOR;
        return true;
    }

    /** Writes the entries that could not be written earlier. */
    void writeUnwritten() {
        while (!unwritten.isEmpty()
                && memory.isAccessDue()
                && write(unwritten.getFirst().withPhase(phase))) {
            unwritten.removeFirst();
        }
    }

    boolean isInterruptPending() {
        return interruptPending;
    }

    void interruptSent() {
        interruptPending = false;
    }

    boolean hasSubmissionQueues() {
        return submissionQueues > 0;
    }

    void submissionQueueAdded() {
        submissionQueues++;
    }

    void submissionQueueRemoved() {
        submissionQueues--;
    }
}
