package org.jrdma.soft.roce.network;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.Linux;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for sockets, a moment, or another thread's {@link #wake()}. Made for one waiting thread.
 */
final class Readiness {

    private static final Logger LOG = LoggerFactory.getLogger(Readiness.class);

    private static final long NANOS = 1_000_000_000;

    // struct pollfd
    private static final long BYTES = 8;
    private static final long EVENTS = 4;
    private static final short POLLIN = 1;
    private static final short POLLOUT = 4;

    private final SystemCalls calls = new SystemCalls();
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment timeout = arena.allocate(2 * JAVA_LONG.byteSize(), 8);
    private final MemorySegment one = arena.allocateFrom(JAVA_LONG, 1);
    private final MemorySegment drained = arena.allocate(JAVA_LONG);
    private final int event;
    private MemorySegment descriptors;

    Readiness() throws FabricException {
        event = Linux.eventDescriptor();
        descriptors = arena.allocate(BYTES, 8);
        watch(0, event, POLLIN);
    }

    /**
     * Waits.
     *
     * @param sendable whether to wait for the first socket to take packets, too
     * @param nanos how long at most; {@link Long#MAX_VALUE} without end
     */
    void await(UdpSocket[] sockets, boolean sendable, long nanos) {
        if (descriptors.byteSize() < (sockets.length + 1) * BYTES) {
            descriptors = arena.allocate((2L * sockets.length + 1) * BYTES, 8);
            watch(0, event, POLLIN);
        }
        for (var i = 0; i < sockets.length; i++) {
            watch(
                    i + 1,
                    sockets[i].descriptor(),
                    i == 0 && sendable ? POLLIN | POLLOUT : POLLIN);
        }
        timeout.set(JAVA_LONG, 0, nanos / NANOS);
        timeout.set(JAVA_LONG, JAVA_LONG.byteSize(), nanos % NANOS);
        calls.poll(
                descriptors,
                sockets.length + 1,
                nanos == Long.MAX_VALUE ? MemorySegment.NULL : timeout);
        if (descriptors.get(JAVA_SHORT, EVENTS + 2) != 0) {
            drain();
        }
    }

    private void watch(int index, int descriptor, short events) {
        descriptors.set(JAVA_INT, index * BYTES, descriptor);
        descriptors.set(JAVA_SHORT, index * BYTES + EVENTS, events);
        descriptors.set(JAVA_SHORT, index * BYTES + EVENTS + 2, (short) 0);
    }

    private void drain() {
        try {
            Linux.read(event, drained);
        } catch (FabricException e) {
            LOG.error("A thread cannot be woken: {}", e.getMessage());
        }
    }

    /** Ends the wait under way, or the next. From any thread. */
    void wake() {
        try {
            Linux.write(event, one);
        } catch (FabricException e) {
            LOG.error("A thread cannot be woken: {}", e.getMessage());
        }
    }

    void close() {
        calls.close(event);
    }
}
