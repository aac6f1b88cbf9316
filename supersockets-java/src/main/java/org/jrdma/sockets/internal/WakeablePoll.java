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
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * Lets a platform thread wait in poll(2), so that other threads can end the wait. The thread polls
 * the awaited descriptor, and an event descriptor that other threads signal.
 *
 * <p>Instances are cached and reused, so there are about as many instances as threads that wait at
 * the same time. If the process has no file descriptor left for the event descriptor, the thread
 * does not wait longer than 10 milliseconds in one call.
 */
public final class WakeablePoll {

    private static final int CACHE_SIZE = 32;
    private static final int PAUSE_MILLIS = 10;
    private static final BlockingQueue<WakeablePoll> CACHE = new ArrayBlockingQueue<>(CACHE_SIZE);

    private final @Nullable RaisableDescriptor wakeUp;
    private final MemorySegment both = pollfd.allocateArray(2, Arena.ofAuto());
    private final MemorySegment awaited = both.asSlice(0, pollfd.sizeof());
    private boolean raised;

    private WakeablePoll(@Nullable RaisableDescriptor wakeUp) {
        this.wakeUp = wakeUp;
        if (wakeUp != null) {
            var second = pollfd.asSlice(both, 1);
            pollfd.fd(second, wakeUp.number());
            pollfd.events(second, (short) SocketCalls.POLLIN);
        }
    }

    static WakeablePoll take() {
        var cached = CACHE.poll();
        if (cached != null) {
            return cached;
        }
        try {
            return new WakeablePoll(RaisableDescriptor.open());
        } catch (FabricException _) {
            return new WakeablePoll(null);
        }
    }

    /** Returns this instance to the cache. Afterwards, no thread may call {@link #raise}. */
    void giveBack() {
        if (wakeUp == null) {
            return;
        }
        if (raised) {
            raised = false;
            wakeUp.lower();
        }
        if (!CACHE.offer(this)) {
            wakeUp.close();
        }
    }

    /** Ends the current or the next wait. */
    void raise() {
        if (wakeUp != null) {
            raised = true;
            wakeUp.raise();
        }
    }

    /** Waits. Returns false if the deadline has passed, and true if the descriptor may be ready. */
    boolean await(int descriptor, int events, Deadline deadline) throws FabricException {
        pollfd.fd(awaited, descriptor);
        pollfd.events(awaited, (short) events);
        var timeout = milliseconds(deadline);
        var result =
                wakeUp == null
                        ? SocketCalls.poll(
                                awaited,
                                timeout < 0 ? PAUSE_MILLIS : Math.min(timeout, PAUSE_MILLIS))
                        : SocketCalls.poll(both, timeout);
        if (result < 0 && result != -Errno.EINTR) {
            throw new FabricException("poll failed: " + Errno.describe(-result), -result, null);
        }
        return result != 0 || !deadline.hasPassed();
    }

    /**
     * Returns the time until the deadline in milliseconds, for poll(2) and epoll_wait(2); -1 if
     * there is no deadline. The time is rounded up, so that a wait does not end before the
     * deadline.
     */
    public static int milliseconds(Deadline deadline) {
        if (deadline.equals(Deadline.NEVER)) {
            return -1;
        }
        var remaining = Math.max(0, deadline.remainingNanos());
        var nanos = TimeUnit.MILLISECONDS.toNanos(1);
        return (int) Math.min(Integer.MAX_VALUE, Math.ceilDiv(remaining, nanos));
    }
}
