package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.BufferList;

/** A slot of a {@link ReceiveQueue}: where a message may go. */
public final class ReceiveWork {

    long id;
    final BufferList buffers;

    ReceiveWork(int maxBuffers) {
        buffers = new BufferList(maxBuffers);
    }

    /** Empties the slot for a new request. */
    public ReceiveWork begin(long id) {
        this.id = id;
        buffers.clear();
        return this;
    }

    /** Appends a piece of memory. */
    public ReceiveWork buffer(long address, int length, int key) {
        buffers.add(address, length, key);
        return this;
    }

    void copyFrom(ReceiveWork other) {
        id = other.id;
        buffers.copyFrom(other.buffers);
    }
}
