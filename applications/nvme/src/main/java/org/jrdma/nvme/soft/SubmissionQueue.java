package org.jrdma.nvme.soft;

import java.lang.foreign.MemorySegment;
import org.jrdma.nvme.model.Command;
import org.jspecify.annotations.Nullable;

/** A submission queue: a ring in the memory of a borrower, of which the controller has the head. */
final class SubmissionQueue {

    private final int id;
    private final QueueMemory memory;
    private final int entries;
    private final CompletionQueue completions;
    private final MemorySegment entry = MemorySegment.ofArray(new long[Command.BYTES / Long.BYTES]);
    private int head;
    private int tail;
    private int doorbell;
    private final ResumableCommandProgress progress = new ResumableCommandProgress();
    private @Nullable Command current;

    SubmissionQueue(int id, QueueMemory memory, int entries, CompletionQueue completions) {
        this.id = id;
        this.memory = memory;
        this.entries = entries;
        this.completions = completions;
    }

    int id() {
        return id;
    }

    /** Returns the borrower that owns this queue, and whose memory its commands may access. */
    int borrower() {
        return completions.borrower();
    }

    CompletionQueue completions() {
        return completions;
    }

    int head() {
        return head;
    }

    /**
     * Handles the value of the tail doorbell.
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
        var advance = (value - tail + entries) % entries;
        var waiting = (tail - head + entries) % entries;
        if (advance > entries - 1 - waiting) {
            return false;
        }
        tail = value;
        return true;
    }

    /** Returns true if a command can be processed and completed. */
    boolean isReady() {
        return (progress.isSuspended() || head != tail)
                && completions.free() > 0
                && memory.isAccessDue();
    }

    /** Takes the suspended command or the next one; null if its memory is not accessible. */
    @Nullable Command next() {
        if (progress.isSuspended()) {
            progress.resume();
            return current;
        }
        if (!memory.read((long) head * Command.BYTES, entry)) {
            return null;
        }
        head = head + 1 == entries ? 0 : head + 1;
        progress.start();
        current = Command.decode(entry, 0);
        return current;
    }

    /** Returns the progress of the command that was taken last. */
    ResumableCommandProgress progress() {
        return progress;
    }
}
