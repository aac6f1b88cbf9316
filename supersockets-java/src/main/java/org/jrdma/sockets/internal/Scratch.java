package org.jrdma.sockets.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Native memory for the length of a system call that does not wait: bytes on their way to or from
 * the heap, an address, the value of an option. Taken and given back by one thread, kept for the
 * next; there are about as many as threads that run at once.
 */
public final class Scratch implements AutoCloseable {

    /** How much is copied at once: two datagrams of the largest kind. */
    public static final int BYTES = 128 * 1024;

    private static final int PLACES = 64;
    private static final AtomicReferenceArray<@Nullable Scratch> SPARE =
            new AtomicReferenceArray<>(PLACES);

    private final MemorySegment bytes;
    private final MemorySegment value;
    private final MemorySegment valueLength;
    private final SocketName name;

    private Scratch() {
        var arena = Arena.ofAuto();
        bytes = arena.allocate(BYTES);
        value = arena.allocate(4 * JAVA_LONG.byteSize(), 8);
        valueLength = arena.allocate(JAVA_INT);
        name = new SocketName(arena);
    }

    /** Takes a spare one, or makes one. */
    public static Scratch take() {
        var spare = SPARE.getAndSet(place(), null);
        return spare == null ? new Scratch() : spare;
    }

    /** Gives it back. */
    @Override
    public void close() {
        SPARE.setRelease(place(), this);
    }

    private static int place() {
        return (int) (Thread.currentThread().threadId() & (PLACES - 1));
    }

    /** {@link #BYTES} bytes for data. */
    public MemorySegment bytes() {
        return bytes;
    }

    /** The first bytes of the room for an option's value. */
    public MemorySegment value(int bytes) {
        return value.asSlice(0, bytes);
    }

    /** The length of a value, set to {@code bytes}. */
    public MemorySegment valueLength(int bytes) {
        valueLength.set(JAVA_INT, 0, bytes);
        return valueLength;
    }

    public SocketName name() {
        return name;
    }
}
