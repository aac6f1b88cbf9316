package org.jrdma.sockets.internal;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jspecify.annotations.Nullable;

/**
 * Waits until a descriptor is readable or writable. A platform thread waits in poll(2); a virtual
 * thread parks and releases its carrier thread.
 */
public final class DescriptorWaiting implements Waiting {

    private final int descriptor;
    private final int events;

    private boolean ended;
    private boolean wakeUpPending;
    private @Nullable WakeablePoll poll;
    private @Nullable DescriptorWaiter waiter;

    /** Waits for {@link SocketCalls#POLLIN} or {@link SocketCalls#POLLOUT}. */
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
                if (ended || takeWakeUp()) {
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
        if (isReadyAfterYield()) {
            return true;
        }
        DescriptorWaiter mine;
        long ticket;
        synchronized (this) {
            if (ended || takeWakeUp()) {
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
     * Yields once to other virtual threads, one of which may produce the awaited event. An event
     * that occurs meanwhile saves two threads a wake-up. The check itself does not wait.
     */
    // correctness does not depend on which thread runs next
    @SuppressWarnings("ThreadPriorityCheck")
    private boolean isReadyAfterYield() {
        Thread.yield();
        return SocketCalls.isReady(descriptor, events);
    }

    private boolean takeWakeUp() {
        var pending = wakeUpPending;
        wakeUpPending = false;
        return pending;
    }

    @Override
    public synchronized void end() {
        ended = true;
        wakeUp();
    }

    /** Ends the current wait, or the next one immediately. */
    public synchronized void wakeUpOnce() {
        wakeUpPending = true;
        wakeUp();
    }

    private void wakeUp() {
        if (poll != null) {
            poll.raise();
        }
        if (waiter != null) {
            waiter.wake();
        }
    }

    /** Closes the waiter. Called when no thread is waiting, before the descriptor is closed. */
    public synchronized void release() {
        if (waiter != null) {
            waiter.close();
        }
    }
}
