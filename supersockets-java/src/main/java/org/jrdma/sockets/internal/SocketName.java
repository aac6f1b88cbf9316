package org.jrdma.sockets.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.sockaddr_storage;

/** Room for an address of any family, and for its length. In C: {@code sockaddr_storage}. */
public final class SocketName {

    private final MemorySegment memory;
    private final MemorySegment length;

    SocketName(Arena arena) {
        memory = sockaddr_storage.allocate(arena);
        length = arena.allocate(JAVA_INT);
    }

    /** The address itself, to be written before a call or read after it. */
    public MemorySegment memory() {
        return memory;
    }

    /** The length, set to all there is, for a call that writes an address. */
    public MemorySegment room() {
        length.set(JAVA_INT, 0, (int) memory.byteSize());
        return length;
    }

    /** How long the address is that the last such call has written. */
    public int length() {
        return length.get(JAVA_INT, 0);
    }
}
