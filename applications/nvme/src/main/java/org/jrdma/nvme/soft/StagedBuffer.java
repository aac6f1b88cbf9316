package org.jrdma.nvme.soft;

import java.lang.foreign.MemorySegment;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Status;

/**
 * The data of a command in memory of the target, before the command is executed or after that. The
 * transport moves the data from and to the host.
 */
final class StagedBuffer extends HostDataBuffer {

    private MemorySegment staged = MemorySegment.NULL;
    private int selected;
    private int written;

    /**
     * Begins a command.
     *
     * @param memory the data that the host has sent, or memory for the data that it receives
     */
    void start(MemorySegment memory) {
        staged = memory;
        selected = 0;
        written = 0;
    }

    @Override
    void select(Command command, int bytes) throws CommandException {
        CommandException.require(bytes <= staged.byteSize(), Status.DATA_LENGTH_INVALID);
        selected = bytes;
    }

    @Override
    boolean hasSmallPieces() {
        return false;
    }

    @Override
    void write(MemorySegment source, long offset) {
        MemorySegment.copy(source, offset, staged, 0, selected);
        written = selected;
    }

    @Override
    void read(MemorySegment target, long offset) {
        MemorySegment.copy(staged, 0, target, offset, selected);
    }

    /** Returns the number of bytes that the command has returned to the host. */
    int written() {
        return written;
    }
}
