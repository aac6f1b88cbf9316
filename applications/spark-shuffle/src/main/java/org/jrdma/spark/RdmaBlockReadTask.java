package org.jrdma.spark;

import java.io.IOException;
import java.util.List;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.PooledBuffer;
import org.jrdma.verbs.model.RemoteMemory;

/** Blocks that are read into the same buffer. Confined to the thread of the {@link PeerFetcher}. */
interface RdmaBlockReadTask {

    /**
     * A part of a task: one RDMA READ.
     *
     * @param index the number of the read in its task
     */
    record Read(RdmaBlockReadTask task, int index, MemorySlice local, RemoteMemory remote) {}

    /** The request that located the blocks. */
    LocationRequest request();

    /** The length of the buffer that the next reads need. */
    long bufferBytes();

    /** Returns the next reads, into a buffer that this task then owns. */
    List<Read> start(PooledBuffer buffer);

    /** The state of a task after a read has completed. */
    enum Progress {
        /** A block was delivered, and other reads have not completed. */
        READING,
        /** A part of a block was read, and the next part needs a buffer. */
        NEEDS_BUFFER,
        /** The last block was delivered. */
        FINISHED
    }

    /**
     * Handles the completion of a read.
     *
     * @throws IOException if a file of this executor fails; then no read of this task is incomplete
     */
    Progress completed(int index) throws IOException;

    /** Leaves the blocks of this task to Spark's client. No read of this task is incomplete. */
    void leaveToStock();

    /** Releases the buffer and files of an unfinished task whose reads have ended. */
    void abandon();
}
