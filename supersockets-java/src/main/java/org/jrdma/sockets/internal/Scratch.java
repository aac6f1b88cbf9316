package org.jrdma.sockets.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Native memory for the arguments of one non-blocking system call: bytes that are copied to or from
 * the heap, a socket address, or the value of an option.
 *
 * <p>A thread takes an instance before the call and closes it afterwards. Closed instances are
 * cached and reused.
 */
public final class Scratch implements AutoCloseable {

    /**
     * The number of bytes that can be copied for one call: twice the maximum size of a datagram.
     */
    public static final int BYTES = 128 * 1024;

    private static final ScratchCache<Scratch> CACHE = new ScratchCache<>(Scratch::new);

    private final MemorySegment bytes;
    private final MemorySegment value;
    private final MemorySegment valueLength;
    private final SocketAddressBuffer name;

    private Scratch() {
        var arena = Arena.ofAuto();
        bytes = arena.allocate(BYTES);
        value = arena.allocate(4 * JAVA_LONG.byteSize(), 8);
        valueLength = arena.allocate(JAVA_INT);
        name = new SocketAddressBuffer(arena);
    }

    /** Returns an instance that no other thread uses until the caller closes it. */
    public static Scratch take() {
        return CACHE.take();
    }

    @Override
    public void close() {
        CACHE.release(this);
    }

    /** Returns a buffer of {@link #BYTES} bytes for the data of a call. */
    public MemorySegment bytes() {
        return bytes;
    }

    /** Returns a buffer of {@code bytes} bytes for the value of an option. */
    public MemorySegment value(int bytes) {
        return value.asSlice(0, bytes);
    }

    /**
     * Returns the memory of an {@code int} with the value {@code bytes}, for the length of an
     * option value.
     */
    public MemorySegment valueLength(int bytes) {
        valueLength.set(JAVA_INT, 0, bytes);
        return valueLength;
    }

    /** Returns the buffer for a socket address. */
    public SocketAddressBuffer name() {
        return name;
    }
}
