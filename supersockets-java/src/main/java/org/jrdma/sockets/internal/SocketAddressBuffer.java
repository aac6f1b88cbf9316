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

    /** Returns the address, to be written before a call or read after it. */
    public MemorySegment memory() {
        return memory;
    }

    /** Returns the length, set to the capacity of the buffer, for a call that writes an address. */
    public MemorySegment capacity() {
        length.set(JAVA_INT, 0, (int) memory.byteSize());
        return length;
    }

    /** Returns the length of the address that the last such call has written. */
    public int length() {
        return length.get(JAVA_INT, 0);
    }
}
