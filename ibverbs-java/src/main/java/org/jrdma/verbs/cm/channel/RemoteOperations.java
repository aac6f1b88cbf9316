package org.jrdma.verbs.cm.channel;

import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRead;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The RDMA reads and writes of a channel that are in flight. Reads and writes complete in the order
 * in which they were started.
 */
public final class RemoteOperations {

    private static final int NONE = -1;

    private final PolledQueuePair queuePair;

    // The prepared writes by slot. A request is prepared when its slot is first used for a write.
    private final @Nullable PreparedWrite[] writes;

    private final @Nullable PreparedRead[] reads;
    private final long[] ids;
    private long started;
    private long completed;

    /** Creates slots for {@code capacity} operations in flight. */
    public RemoteOperations(PolledQueuePair queuePair, int capacity) {
        this.queuePair = queuePair;
        this.writes = new PreparedWrite[capacity];
        this.reads = new PreparedRead[capacity];
        this.ids = new long[capacity];
    }

    /**
     * Starts an RDMA write. Returns false if no slot is free or the send queue is full.
     *
     * @param id the identifier that the program assigns to the operation
     */
    public boolean tryWrite(MemorySlice local, RemoteMemory remote, long id) throws VerbsException {
        var slot = freeSlot();
        if (slot == NONE) {
            return false;
        }
        var write = writes[slot];
        if (write == null) {
            write = queuePair.prepareWrite(local, remote).id(MessageRings.operation(slot));
            writes[slot] = write;
        }
        return start(write.buffers(local, remote), slot, id);
    }

    /**
     * Starts an RDMA read. Returns false if no slot is free or the send queue is full.
     *
     * @param id the identifier that the program assigns to the operation
     */
    public boolean tryRead(MemorySlice local, RemoteMemory remote, long id) throws VerbsException {
        var slot = freeSlot();
        if (slot == NONE) {
            return false;
        }
        var read = reads[slot];
        if (read == null) {
            read = queuePair.prepareRead(local, remote).id(MessageRings.operation(slot));
            reads[slot] = read;
        }
        return start(read.buffers(local, remote), slot, id);
    }

    private int freeSlot() {
        return started - completed == ids.length ? NONE : (int) (started % ids.length);
    }

    private boolean start(PreparedRequest<?> operation, int slot, long id) throws VerbsException {
        var posted = operation.tryPost();
        if (posted) {
            ids[slot] = id;
            started++;
        }
        return posted;
    }

    /**
     * Returns the identifiers of the operations whose completion was not handled or that failed, in
     * the order in which they were started.
     */
    public long[] unfinished() {
        var unfinished = new long[(int) (started - completed)];
        for (var index = 0; index < unfinished.length; index++) {
            unfinished[index] = ids[(int) ((completed + index) % ids.length)];
        }
        return unfinished;
    }

    /**
     * Frees the slot of a completed operation, and returns the identifier that the program has
     * assigned to the operation.
     */
    public long complete(int slot) {
        completed++;
        return ids[slot];
    }
}
