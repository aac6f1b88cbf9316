package org.jrdma.nvme.soft;

import java.lang.foreign.MemorySegment;
import org.jrdma.nvme.model.Command;
import org.jrdma.soft.sisci.device.DeviceBus;
import org.jspecify.annotations.Nullable;

/** A submission queue: a ring in the memory of a borrower, of which the controller has the head. */
final class SubmissionQueue {

    private final int id;
    private final long address;
    private final int entries;
    private final CompletionQueue completions;
    private final MemorySegment entry = MemorySegment.ofArray(new long[Command.BYTES / Long.BYTES]);
    private int head;
    private int tail;
    private int doorbell;
    private boolean stopped;
    private @Nullable Command unfinished;
    private long progress;

    SubmissionQueue(int id, long address, int entries, CompletionQueue completions) {
        this.id = id;
        this.address = address;
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
        return !stopped && (unfinished != null || head != tail) && completions.free() > 0;
    }

    /** Returns the unfinished command or the next one; null if its memory is not accessible. */
    @Nullable Command next(DeviceBus bus) {
        if (unfinished != null) {
            return unfinished;
        }
        if (!bus.read(address + (long) head * Command.BYTES, entry)) {
            return null;
        }
        head = head + 1 == entries ? 0 : head + 1;
        progress = 0;
        return Command.decode(entry, 0);
    }

    /** Returns the number of bytes of the current command that were processed by earlier polls. */
    long progress() {
        return progress;
    }

    /** Continues the command with the next poll. */
    void suspend(Command command, long newProgress) {
        unfinished = command;
        progress = newProgress;
    }

    /** Ends the current command. */
    void finished() {
        unfinished = null;
    }

    /** Stops this queue until it is deleted, because its memory is not accessible. */
    void stop() {
        stopped = true;
        unfinished = null;
    }
}
