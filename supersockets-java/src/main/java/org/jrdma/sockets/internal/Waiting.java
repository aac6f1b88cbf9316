package org.jrdma.sockets.internal;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jspecify.annotations.Nullable;

/**
 * How one thread at a time waits until a descriptor can be read from, or written to, and how others
 * end that. A platform thread waits in poll(2); a virtual one parks, and leaves its carrier to
 * others.
 */
public final class Waiting {

    private final int descriptor;
    private final int events;

    private boolean ended;
    private @Nullable Alarm alarm;
    private @Nullable DescriptorWaiter waiter;

    /** For {@link SocketCalls#POLLIN} or {@link SocketCalls#POLLOUT}. */
    public Waiting(int descriptor, int events) {
        this.descriptor = descriptor;
        this.events = events;
    }

    /**
     * Waits. Returns early when {@link #end()} is called and when the thread is interrupted, whose
     * interrupt status stays set.
     *
     * @return false if the deadline passed
     */
    public boolean await(Deadline deadline) throws IOException {
        return Thread.currentThread().isVirtual() ? park(deadline) : poll(deadline);
    }

    private boolean poll(Deadline deadline) throws IOException {
        var mine = Alarm.take();
        try {
            synchronized (this) {
                if (ended) {
                    return true;
                }
                alarm = mine;
            }
            return mine.await(descriptor, events, deadline);
        } finally {
            synchronized (this) {
                alarm = null;
            }
            mine.giveBack();
        }
    }

    private boolean park(Deadline deadline) throws IOException {
        DescriptorWaiter mine;
        long ticket;
        synchronized (this) {
            if (ended) {
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

    /** Ends the wait that there is, and those to come at once. */
    public synchronized void end() {
        ended = true;
        if (alarm != null) {
            alarm.raise();
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
