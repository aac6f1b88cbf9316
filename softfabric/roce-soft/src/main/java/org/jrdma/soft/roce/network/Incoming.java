package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.engine.Engine;
import org.jspecify.annotations.Nullable;

/**
 * Takes what came to the sockets of a port, many datagrams with one system call. For one thread at
 * a time.
 */
final class Incoming {

    private static final int CAPACITY = 32;

    /** How many calls of a round at most give an error instead of datagrams. */
    private static final int PATIENCE = 64;

    private final SystemCalls calls;
    private final MessageVector vector;
    private boolean up = true;
    private @Nullable Tracer tracer;

    Incoming(int scope, SystemCalls calls, Arena arena) {
        this.calls = calls;
        this.vector = new MessageVector(CAPACITY, scope, arena);
    }

    void tracer(@Nullable Tracer next) {
        tracer = next;
    }

    void up(boolean isUp) {
        up = isUp;
    }

    /**
     * Hands an engine what came in, up to some number of packets.
     *
     * @return false if there may be more
     */
    boolean receive(UdpSocket socket, Engine engine, int packets) {
        var errors = 0;
        for (var left = packets; left > 0; ) {
            var count = socket.receive(vector.headers(), CAPACITY);
            if (count < 0) {
                if (calls.errno() == Errno.EAGAIN || ++errors == PATIENCE) {
                    return true;
                }
                continue; // an error that a sent packet met: told once, and no concern here
            }
            var address = socket.address();
            for (var i = 0; i < count; i++) {
                if (vector.received(i, address.high(), address.low()) && up) {
                    var packet = vector.buffer(i);
                    if (tracer != null) {
                        tracer.received(packet);
                    }
                    engine.receive(packet);
                }
            }
            if (count < CAPACITY) {
                return true;
            }
            left -= count;
        }
        return false;
    }
}
