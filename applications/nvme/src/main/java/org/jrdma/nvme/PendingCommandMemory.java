package org.jrdma.nvme;

import org.jspecify.annotations.Nullable;

/**
 * Keeps the memory of each pending command of an I/O queue allocated until the command has
 * completed.
 */
final class PendingCommandMemory {

    private final @Nullable DmaMemory[] memory;

    PendingCommandMemory(int depth) {
        this.memory = new @Nullable DmaMemory[depth];
    }

    /**
     * Keeps memory allocated while the command in a slot is pending.
     *
     * @param isHeld true if the caller holds the memory. The slot takes over the hold
     */
    void hold(int slot, DmaMemory data, boolean isHeld) {
        if (!isHeld) {
            data.hold();
        }
        memory[slot] = data;
    }

    void release(int slot) {
        var data = memory[slot];
        if (data != null) {
            memory[slot] = null;
            data.release();
        }
    }

    void releaseAll() {
        for (var slot = 0; slot < memory.length; slot++) {
            release(slot);
        }
    }
}
