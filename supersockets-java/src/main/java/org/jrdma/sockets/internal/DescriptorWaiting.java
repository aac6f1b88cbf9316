package org.jrdma.sockets.internal;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jspecify.annotations.Nullable;

/**
 * Waits until a descriptor can be read from, or written to. A platform thread waits in poll(2); a
 * virtual one parks, and leaves its carrier to others.
 */
public final class DescriptorWaiting implements Waiting {

    private final int descriptor;
    private final int events;

    private boolean ended;
    private boolean nudged;
    private @Nullable WakeablePoll poll;
    private @Nullable DescriptorWaiter waiter;

    /** For {@link SocketCalls#POLLIN} or {@link SocketCalls#POLLOUT}. */
    public DescriptorWaiting(int descriptor, int events) {
        this.descriptor = descriptor;
        this.events = events;
    }

    @Override
    public boolean await(Deadline deadline) throws IOException {
        return Thread.currentThread().isVirtual() ? park(deadline) : poll(deadline);
    }

    private boolean poll(Deadline deadline) throws IOException {
        var mine = WakeablePoll.take();
        try {
            synchronized (this) {
                if (ended || takeNudge()) {
                    return true;
                }
                poll = mine;
            }
            return mine.await(descriptor, events, deadline);
        } finally {
            synchronized (this) {
                poll = null;
            }
            mine.giveBack();
        }
    }

    private boolean park(Deadline deadline) throws IOException {
        if (hasComeMeanwhile()) {
            return true;
        }
        DescriptorWaiter mine;
        long ticket;
        synchronized (this) {
            if (ended || takeNudge()) {
                return true;
            }
            if (waiter == null) {
                waiter =
                        events == SocketCalls.POLLIN
                                ? DescriptorWaiter.on(descriptor)
                                : DescriptorWaiter.onWritable(descriptor);
            }
            mine = waiter;
            ticket = mine.ticket();
        }
        try {
            return mine.await(ticket, deadline);
        } catch (InterruptedIOException _) {
            return true;
        }
    }

    /**
     * Lets other virtual threads run once, one of which may be whom this one waits for: an answer
     * that comes meanwhile spares two threads their wake-ups. The look itself does not wait.
     */
    @SuppressWarnings("ThreadPriorityCheck") // nothing relies on who runs next
    private boolean hasComeMeanwhile() {
        Thread.yield();
        return SocketCalls.isReady(descriptor, events);
    }

    private boolean takeNudge() {
        var was = nudged;
        nudged = false;
        return was;
    }

    @Override
    public synchronized void end() {
        ended = true;
        wake();
    }

    /** Ends the wait that there is, or else the next one at once: something else has happened. */
    public synchronized void nudge() {
        nudged = true;
        wake();
    }

    private void wake() {
        if (poll != null) {
            poll.raise();
        }
        if (waiter != null) {
            waiter.wake();
        }
    }

    /** To be called when nobody waits any more, before the descriptor is closed. */
    public synchronized void release() {
        if (waiter != null) {
            waiter.close();
        }
    }
}
