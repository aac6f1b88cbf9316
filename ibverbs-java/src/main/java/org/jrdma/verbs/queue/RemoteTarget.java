package org.jrdma.verbs.queue;

import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.RemoteMemory;

/** The range of remote memory that a prepared RDMA read or write accesses. Not thread-safe. */
public final class RemoteTarget {

    private final WorkRequest.Send request;
    private RemoteMemory memory;
    private long offset;

    /**
     * Sets the remote memory of a request, starting at its first byte. The length of the request is
     * not checked.
     */
    public RemoteTarget(WorkRequest.Send request, RemoteMemory memory) {
        this.request = request;
        this.memory = memory;
        request.remote(memory.address(), memory.key());
    }

    /**
     * Selects another remote memory, starting at its first byte.
     *
     * @param length the length of the request
     * @throws IndexOutOfBoundsException if the request is longer than the memory
     */
    public void select(RemoteMemory other, long length) {
        RequestWriter.checkRange(0, length, other);
        memory = other;
        offset = 0;
        request.remote(other.address(), other.key());
    }

    /**
     * Selects another offset in the current remote memory.
     *
     * @param length the length of the request
     * @throws IndexOutOfBoundsException if the request exceeds the memory
     */
    public void moveTo(long newOffset, long length) {
        RequestWriter.checkRange(newOffset, length, memory);
        offset = newOffset;
        request.remoteAddress(memory.address() + newOffset);
    }

    /**
     * Checks that a request of the given length does not exceed the memory at the current offset.
     */
    public void checkLength(long length) {
        RequestWriter.checkRange(offset, length, memory);
    }

    /** Returns the current remote memory. */
    public RemoteMemory memory() {
        return memory;
    }
}
