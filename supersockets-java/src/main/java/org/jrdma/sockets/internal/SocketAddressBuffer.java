package org.jrdma.sockets.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.sockaddr_storage;

/**
 * A buffer for a socket address of any family and for its length. In C: {@code sockaddr_storage}.
 */
public final class SocketAddressBuffer {

    private final MemorySegment memory;
    private final MemorySegment length;

    SocketAddressBuffer(Arena arena) {
        memory = sockaddr_storage.allocate(arena);
        length = arena.allocate(JAVA_INT);
    }

    /**
     * Returns the memory of the address. The caller of a C function writes the address before the
     * call, or reads it after the call.
     */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * Returns the memory of the length, in which this method stores the capacity of the buffer, for
     * C functions that write an address and its length.
     */
    public MemorySegment capacity() {
        length.set(JAVA_INT, 0, (int) memory.byteSize());
        return length;
    }

    /** Returns the length of the address that a C function has written, in bytes. */
    public int length() {
        return length.get(JAVA_INT, 0);
    }
}
