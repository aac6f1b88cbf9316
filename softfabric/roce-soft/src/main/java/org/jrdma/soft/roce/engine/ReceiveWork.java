package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.BufferList;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.IncomingPacket;

/** A slot of a {@link ReceiveQueue}: a receive request and its buffers. */
public final class ReceiveWork {

    long id;
    final BufferList buffers;

    ReceiveWork(int maxBuffers) {
        buffers = new BufferList(maxBuffers);
    }

    /**
     * Resets the slot for a new receive.
     *
     * @param id the ID that the completion of the receive reports
     */
    public ReceiveWork begin(long id) {
        this.id = id;
        buffers.clear();
        return this;
    }

    /** Appends a buffer to the receive. */
    public ReceiveWork buffer(long address, int length, int key) {
        buffers.add(address, length, key);
        return this;
    }

    void copyFrom(ReceiveWork other) {
        id = other.id;
        buffers.copyFrom(other.buffers);
    }

    /**
     * Copies the payload of a packet to the buffers, beginning {@code offset} bytes after the start
     * of the first buffer. Returns false if a buffer may not be written.
     */
    boolean scatter(
            MemoryRegistry memory, ProtectionDomain domain, long offset, IncomingPacket packet) {
        var bytes = packet.payloadBytes();
        return bytes == 0
                || buffers.scatter(
                        memory,
                        domain,
                        offset,
                        packet.buffer().memory(),
                        packet.payloadOffset(),
                        bytes);
    }
}
