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

    /** The maximum time for which a virtual thread yields before it parks. */
    private static final long YIELD_NANOS = 100_000;

    /**
     * The number of waits for which a virtual thread yields without success before it yields less.
     */
    private static final int YIELDING_WAITS = 4;

    private final int descriptor;
    private final int events;

    private final SpinBudget yieldBudget = new SpinBudget(YIELD_NANOS, YIELDING_WAITS);

    private boolean ended;
    private boolean wakeUpPending;
    private @Nullable WakeablePoll poll;
    private @Nullable DescriptorWaiter waiter;

    /**
     * Creates an object that waits for one event of a descriptor.
     *
     * @param events {@link SocketCalls#POLLIN} or {@link SocketCalls#POLLOUT}
     */
    public DescriptorWaiting(int descriptor, int events) {
        this.descriptor = descriptor;
        this.events = events;
    }

    @Override
    public boolean await(Deadline deadline) throws IOException {
        return Thread.currentThread().isVirtual() ? park(deadline) : poll(deadline);
    }

    private boolean poll(Deadline deadline) throws IOException {
        var ownPoll = WakeablePoll.take();
        try {
            synchronized (this) {
                if (ended || takeWakeUp()) {
                    return true;
                }
                poll = ownPoll;
            }
            return ownPoll.await(descriptor, events, deadline);
        } finally {
            synchronized (this) {
                poll = null;
            }
            ownPoll.giveBack();
        }
    }

    private boolean park(Deadline deadline) throws IOException {
        var start = System.nanoTime();
        var yielded = isReadyAfterYields(start + yieldBudget.nanos());
        var ready = yielded || parkUntilReady(deadline);
        yieldBudget.ended(System.nanoTime() - start, !yielded);
        return ready;
    }

    private boolean parkUntilReady(Deadline deadline) throws IOException {
        DescriptorWaiter currentWaiter;
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
            currentWaiter = waiter;
            ticket = currentWaiter.ticket();
        }
        try {
            return currentWaiter.await(ticket, deadline);
        } catch (InterruptedIOException _) {
            return true;
        }
    }

    /**
     * Yields to other virtual threads, at least once, and then checks whether the descriptor is
     * ready. If so, this thread need not park and be woken up again. The checks do not wait.
     */
    // The result is correct whichever thread the scheduler runs next.
    @SuppressWarnings("ThreadPriorityCheck")
    private boolean isReadyAfterYields(long end) {
        do {
            Thread.yield();
            if (SocketCalls.isReady(descriptor, events)) {
                return true;
            }
        } while (System.nanoTime() - end < 0);
        return false;
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

    /** Ends the current wait. If no thread is waiting, the next wait returns immediately. */
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

    /**
     * Closes the file descriptors by which virtual threads wait. Called before the descriptor is
     * closed, when no thread is waiting.
     */
    public synchronized void release() {
        if (waiter != null) {
            waiter.close();
        }
    }
}
