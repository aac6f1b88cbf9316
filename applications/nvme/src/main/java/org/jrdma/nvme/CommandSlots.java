package org.jrdma.nvme;

import org.jrdma.nvme.model.IoOpcode;

/**
 * The slots of the pending commands of an I/O queue. A pending command occupies a slot, whose
 * number is the id of the command. Confined to the thread of the queue.
 */
final class CommandSlots {

    /** The result of {@link #next()} if all slots are occupied. */
    static final int NONE = -1;

    /** The result of a poll of a queue if no command has completed. */
    static final long NOTHING = -1;

    private final int[] freeSlots;
    private final boolean[] isPending;
    private final long[] contexts;
    private final int[] opcodes;
    private final int[] namespaces;
    private final long[] firstBlocks;
    private final int[] blockCounts;
    private int free;

    CommandSlots(int depth) {
        this.freeSlots = new int[depth];
        this.isPending = new boolean[depth];
        this.contexts = new long[depth];
        this.opcodes = new int[depth];
        this.namespaces = new int[depth];
        this.firstBlocks = new long[depth];
        this.blockCounts = new int[depth];
        this.free = depth;
        for (var slot = 0; slot < depth; slot++) {
            freeSlots[slot] = depth - 1 - slot;
        }
    }

    int depth() {
        return freeSlots.length;
    }

    int pending() {
        return freeSlots.length - free;
    }

    /** Returns the slot that the next call of {@link #occupy} occupies, or {@link #NONE}. */
    int next() {
        return free == 0 ? NONE : freeSlots[free - 1];
    }

    /** Occupies the slot that {@link #next()} has returned. */
    void occupy(int opcode, int namespace, long firstBlock, int blocks, long context) {
        free--;
        var slot = freeSlots[free];
        isPending[slot] = true;
        contexts[slot] = context;
        opcodes[slot] = opcode;
        namespaces[slot] = namespace;
        firstBlocks[slot] = firstBlock;
        blockCounts[slot] = blocks;
    }

    boolean isPending(int slot) {
        return slot < isPending.length && isPending[slot];
    }

    /** Frees the slot of a command that has completed. Its description remains until its reuse. */
    void free(int slot) {
        isPending[slot] = false;
        freeSlots[free] = slot;
        free++;
    }

    long context(int slot) {
        return contexts[slot];
    }

    /** Describes a command for messages. */
    String describe(int slot) {
        var name = IoOpcode.name(opcodes[slot]);
        return blockCounts[slot] == 0
                ? "%s of namespace %d".formatted(name, namespaces[slot])
                : "%s of %d blocks from block %d of namespace %d"
                        .formatted(name, blockCounts[slot], firstBlocks[slot], namespaces[slot]);
    }
}
