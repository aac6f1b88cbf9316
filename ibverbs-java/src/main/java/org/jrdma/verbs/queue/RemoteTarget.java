package org.jrdma.verbs.queue;

import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.RemoteMemory;

/** The range of remote memory that an RDMA read or write accesses. Not thread-safe. */
public final class RemoteTarget {

    private final WorkRequest.Send request;
    private RemoteMemory memory;
    private long offset;

    /** Names remote memory, starting at its first byte, in a request whose length is not known. */
    public RemoteTarget(WorkRequest.Send request, RemoteMemory memory) {
        this.request = request;
        this.memory = memory;
        request.remote(memory.address(), memory.key());
    }

    /** Selects other memory, starting at its first byte, for a request of the given length. */
    public void select(RemoteMemory other, long length) {
        RequestWriter.checkRange(0, length, other);
        memory = other;
        offset = 0;
        request.remote(other.address(), other.key());
    }

    /** Moves to another offset in the same memory, for a request of the given length. */
    public void moveTo(long newOffset, long length) {
        RequestWriter.checkRange(newOffset, length, memory);
        offset = newOffset;
        request.remoteAddress(memory.address() + newOffset);
    }

    /** Checks that a request of another length stays within the memory. */
    public void checkLength(long length) {
        RequestWriter.checkRange(offset, length, memory);
    }

    /** The selected memory. */
    public RemoteMemory memory() {
        return memory;
    }
}
