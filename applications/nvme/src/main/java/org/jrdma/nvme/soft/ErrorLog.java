package org.jrdma.nvme.soft;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.ErrorLogEntry;
import org.jrdma.nvme.model.Status;

/** The errors of commands, the newest first. Safe for use by multiple threads. */
final class ErrorLog {

    static final int ENTRIES = 16;
    static final int BYTES = ENTRIES * ErrorLogEntry.BYTES;

    private final Deque<ErrorLogEntry> entries = new ArrayDeque<>();
    private long count;

    synchronized void add(int queue, Command command, Status status) {
        count++;
        entries.addFirst(
                new ErrorLogEntry(
                        count,
                        queue,
                        command.id(),
                        status.encode(),
                        queue == 0 ? 0 : command.firstBlock(),
                        command.namespace()));
        if (entries.size() > ENTRIES) {
            entries.removeLast();
        }
    }

    /** Returns the number of errors so far. */
    synchronized long count() {
        return count;
    }

    synchronized void encode(MemorySegment page) {
        var offset = 0L;
        for (var entry : entries) {
            entry.encode(page, offset);
            offset += ErrorLogEntry.BYTES;
        }
    }
}
