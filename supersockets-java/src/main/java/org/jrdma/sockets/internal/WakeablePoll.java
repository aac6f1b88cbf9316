package org.jrdma.sockets.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.rdma.pollfd;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.EventDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * A wait of a platform thread in poll(2), for a descriptor and for an event descriptor by which
 * other threads wake it up. Taken for one wait and kept for the next: there are about as many as
 * threads that wait at once. If the process has no descriptor left for another one, the thread
 * polls periodically instead, since it has the descriptor that it waits for.
 */
final class WakeablePoll {

    private static final int SPARES = 32;
    private static final int PAUSE = 10;
    private static final BlockingQueue<WakeablePoll> SPARE = new ArrayBlockingQueue<>(SPARES);

    private final @Nullable EventDescriptor wakeUp;
    private final MemorySegment both = pollfd.allocateArray(2, Arena.ofAuto());
    private final MemorySegment awaited = both.asSlice(0, pollfd.sizeof());
    private boolean raised;

    private WakeablePoll(@Nullable EventDescriptor wakeUp) {
        this.wakeUp = wakeUp;
        if (wakeUp != null) {
            var second = pollfd.asSlice(both, 1);
            pollfd.fd(second, wakeUp.number());
            pollfd.events(second, (short) SocketCalls.POLLIN);
        }
    }

    static WakeablePoll take() {
        var spare = SPARE.poll();
        if (spare != null) {
            return spare;
        }
        try {
            return new WakeablePoll(EventDescriptor.open());
        } catch (FabricException _) {
            return new WakeablePoll(null);
        }
    }

    /** Gives it back, when nobody else will raise it any more. */
    void giveBack() {
        if (wakeUp == null) {
            return;
        }
        if (raised) {
            raised = false;
            wakeUp.lower();
        }
        if (!SPARE.offer(this)) {
            wakeUp.close();
        }
    }

    /** Ends the wait. */
    void raise() {
        if (wakeUp != null) {
            raised = true;
            wakeUp.raise();
        }
    }

    /** Waits; false if the deadline passed, true also if it may be worth to look again. */
    boolean await(int descriptor, int events, Deadline deadline) throws FabricException {
        pollfd.fd(awaited, descriptor);
        pollfd.events(awaited, (short) events);
        var most = milliseconds(deadline);
        var result =
                wakeUp == null
                        ? SocketCalls.poll(awaited, most < 0 ? PAUSE : Math.min(most, PAUSE))
                        : SocketCalls.poll(both, most);
        if (result < 0 && result != -Errno.EINTR) {
            throw new FabricException("poll failed: " + Errno.describe(-result), -result, null);
        }
        return result != 0 || !deadline.hasPassed();
    }

    /** Rounded up, so that a wait does not end too early and go around again for nothing. */
    static int milliseconds(Deadline deadline) {
        if (deadline.equals(Deadline.NEVER)) {
            return -1;
        }
        var remaining = Math.max(0, deadline.remainingNanos());
        var nanos = TimeUnit.MILLISECONDS.toNanos(1);
        return (int) Math.min(Integer.MAX_VALUE, Math.ceilDiv(remaining, nanos));
    }
}
