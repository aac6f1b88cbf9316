package org.jrdma.nvme.soft;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;

/**
 * The memory of a host that a command specifies for its data. A buffer is used for one command
 * after the other, by one thread.
 */
abstract class HostDataBuffer {

    /** The base two logarithm of the largest transfer in pages (MDTS). */
    static final int MAX_TRANSFER_SHIFT = 7;

    static final int MAX_BYTES = Configuration.PAGE_BYTES << MAX_TRANSFER_SHIFT;

    /** Allocated with the first use, because many queues never use it. */
    private MemorySegment staging = MemorySegment.NULL;

    /**
     * Selects the memory of a command.
     *
     * @param bytes the number of bytes, from 1 to {@link #MAX_BYTES}
     * @throws CommandException if the memory is invalid, too small, or belongs to another host
     */
    abstract void select(Command command, int bytes) throws CommandException;

    /** Returns true if a part is too small to be copied from or to a mapped file. */
    abstract boolean hasSmallPieces();

    /** Copies from memory of the controller to the selected memory. */
    abstract void write(MemorySegment source, long offset) throws CommandException;

    /** Copies from the selected memory to memory of the controller. */
    abstract void read(MemorySegment target, long offset) throws CommandException;

    /** Returns memory of the controller for the data of one command, with any contents. */
    final MemorySegment staging(int bytes) {
        if (staging.byteSize() == 0) {
            staging = Arena.ofAuto().allocate(MAX_BYTES, Long.BYTES);
        }
        return staging.asSlice(0, bytes);
    }

    /** Returns zeroed memory of the controller for the data of one command. */
    final MemorySegment zeroed(int bytes) {
        return staging(bytes).fill((byte) 0);
    }
}
