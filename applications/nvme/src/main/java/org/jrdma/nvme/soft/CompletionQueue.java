package org.jrdma.nvme.soft;

import java.lang.foreign.MemorySegment;
import org.jrdma.nvme.model.Completion;
import org.jrdma.soft.sisci.device.DeviceBus;

/** A completion queue: a ring in the memory of a borrower, of which the controller has the tail. */
final class CompletionQueue {

    /** The vector of a queue without interrupts. */
    static final int NO_VECTOR = -1;

    private final int id;
    private final long address;
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

    CompletionQueue(int id, long address, int entries, int borrower, int vector) {
        this.id = id;
        this.address = address;
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

    /** Returns the number of entries that can be added. */
    int free() {
        return (head - tail - 1 + entries) % entries;
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

    /**
     * Adds an entry. The queue must not be full.
     *
     * @return false if the memory of the queue is not accessible
     */
    boolean add(DeviceBus bus, SubmissionQueue queue, int commandId, int result, int status) {
        new Completion(result, queue.head(), queue.id(), commandId, phase, status).encode(entry, 0);
        if (!bus.write(address + (long) tail * Completion.BYTES, entry)) {
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
