package org.jrdma.volume.net;

import java.lang.foreign.MemorySegment;

/**
 * Memory of a connection for the bulk data of calls. Over verbs it is registered, and over SISCI it
 * is a segment.
 *
 * <p>Several calls can use different ranges of a buffer at the same time. If a call times out, the
 * peer may still access its range. Until the late reply arrives, further calls with this buffer
 * throw IllegalStateException, and the program must not use the memory.
 *
 * <p>Owned by its connection, and closed with it. Safe for use by multiple threads.
 */
public final class NodeBuffer implements AutoCloseable {

    private final Object owner;
    private final MemorySegment memory;
    private final long address;
    private final int key;
    private final Runnable release;
    private int calls;
    private int abandoned;
    private boolean closed;

    /**
     * @param owner the wire that created the buffer
     * @param address the address of the first byte for the peer
     * @param key the key by which the peer accesses the memory
     * @param release frees the memory
     */
    NodeBuffer(Object owner, MemorySegment memory, long address, int key, Runnable release) {
        this.owner = owner;
        this.memory = memory;
        this.address = address;
        this.key = key;
        this.release = release;
    }

    /** The memory of the buffer, which starts at a page boundary. */
    public MemorySegment memory() {
        return memory;
    }

    /** The size of the buffer in bytes. */
    public int byteSize() {
        return (int) memory.byteSize();
    }

    /** Returns bulk data that a call sends to the peer. */
    public BulkData toPeer(int offset, int bytes) {
        return new BulkData(this, offset, bytes, BulkData.Direction.TO_PEER);
    }

    /** Returns bulk data that a call receives from the peer. */
    public BulkData fromPeer(int offset, int bytes) {
        return new BulkData(this, offset, bytes, BulkData.Direction.FROM_PEER);
    }

    boolean isOwnedBy(Object other) {
        return owner == other;
    }

    long address() {
        return address;
    }

    int key() {
        return key;
    }

    /** Starts the use of this buffer by a call. */
    synchronized void begin() {
        if (closed) {
            throw new IllegalStateException("The buffer is closed");
        }
        if (abandoned > 0) {
            throw new IllegalStateException(
                    "A call with this buffer has timed out, and the peer may still access the buffer. Use another buffer.");
        }
        calls++;
    }

    /** Notes that the program no longer waits for a call that uses this buffer. */
    synchronized void abandon() {
        abandoned++;
    }

    /** Ends the use of this buffer by a call. */
    synchronized void end(boolean wasAbandoned) {
        calls--;
        abandoned -= wasAbandoned ? 1 : 0;
        releaseIfUnused();
    }

    /** Closes the buffer. If calls still use it, its memory is released when they have ended. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            releaseIfUnused();
        }
    }

    private void releaseIfUnused() {
        if (closed && calls == 0) {
            release.run();
        }
    }
}
