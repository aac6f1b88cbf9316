package org.jrdma.soft.roce.network;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.RaisableDescriptor;

/**
 * Lets one thread wait until a UDP socket is ready, another descriptor has an event, a time has
 * passed, or another thread calls {@link #wake()}. In C: {@code ppoll}.
 */
final class SocketPoller {

    private static final long NANOS = 1_000_000_000;

    // struct pollfd
    private static final long BYTES = 8;
    private static final long EVENTS = 4;
    private static final short POLLIN = 1;
    private static final short POLLOUT = 4;

    private final SystemCalls calls = new SystemCalls();
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment timeout = arena.allocate(2 * JAVA_LONG.byteSize(), 8);
    private MemorySegment descriptors = arena.allocate(BYTES, 8);
    // Last, because the fields above may throw and the descriptor would stay open.
    private final RaisableDescriptor event = RaisableDescriptor.open();

    SocketPoller() throws FabricException {
        watch(0, event.number(), POLLIN);
    }

    /**
     * Waits until a socket has a packet to receive, another descriptor has an event, the time has
     * passed, or {@link #wake()} is called.
     *
     * @param others the other descriptors; negative numbers are ignored
     * @param sendable true to also stop waiting when the first socket accepts packets to send
     * @param nanos the maximum time in nanoseconds, or {@link Long#MAX_VALUE} for no limit
     */
    void await(UdpSocket[] sockets, int[] others, boolean sendable, long nanos) {
        var count = 1 + sockets.length + others.length;
        if (descriptors.byteSize() < count * BYTES) {
            descriptors = arena.allocate(2L * count * BYTES, 8);
            watch(0, event.number(), POLLIN);
        }
        for (var i = 0; i < sockets.length; i++) {
            watch(i + 1, sockets[i].descriptor(), i == 0 && sendable ? POLLIN | POLLOUT : POLLIN);
        }
        for (var i = 0; i < others.length; i++) {
            watch(1 + sockets.length + i, others[i], POLLIN);
        }
        timeout.set(JAVA_LONG, 0, nanos / NANOS);
        timeout.set(JAVA_LONG, JAVA_LONG.byteSize(), nanos % NANOS);
        calls.poll(descriptors, count, nanos == Long.MAX_VALUE ? MemorySegment.NULL : timeout);
        if (descriptors.get(JAVA_SHORT, EVENTS + 2) != 0) {
            event.lower();
        }
    }

    private void watch(int index, int descriptor, short events) {
        descriptors.set(JAVA_INT, index * BYTES, descriptor);
        descriptors.set(JAVA_SHORT, index * BYTES + EVENTS, events);
        descriptors.set(JAVA_SHORT, index * BYTES + EVENTS + 2, (short) 0);
    }

    /**
     * Ends the current call of {@link #await}, or the next one if no thread is waiting. May be
     * called by any thread.
     */
    void wake() {
        event.raise();
    }

    void close() {
        event.close();
    }
}
