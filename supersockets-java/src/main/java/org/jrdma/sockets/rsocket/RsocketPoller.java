package org.jrdma.sockets.rsocket;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.abi.rdma.pollfd;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jrdma.sockets.internal.SocketCalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls all rsockets of this process on one thread, because poll(2) does not support rsockets. The
 * thread also polls an event descriptor, by which other threads wake it up. Each watched event is
 * reported once.
 */
final class RsocketPoller {

    private static final Logger LOG = LoggerFactory.getLogger(RsocketPoller.class);
    private static final int ENDED = RsocketCalls.POLLERR | RsocketCalls.POLLHUP;
    private static final long PAUSE_NANOS = 10_000_000;

    private final RsocketCalls calls;
    private final RaisableDescriptor wakeUp;

    /** An rsocket whose events the poller reports. */
    interface Watched {

        int number();

        /** Called on the thread of the poller when an awaited event has occurred. Must not wait. */
        void eventOccurred();
    }

    /**
     * The events of one rsocket to wait for. While a watch is suspended, its rsocket is not polled.
     */
    private static final class Watch {
        private final Watched target;
        private int events;
        private boolean suspended;

        Watch(Watched target) {
            this.target = target;
        }
    }

    // Guarded by this
    private final Map<Integer, Watch> watches = new HashMap<>();
    private boolean woken;
    private boolean polling;
    private long round;

    /**
     * The argument of rpoll: the event descriptor, followed by the watched rsockets. Used only by
     * the thread of the poller.
     */
    private MemorySegment descriptors = pollfd.allocateArray(16, Arena.ofAuto());

    private final List<Watch> watched = new ArrayList<>();

    private RsocketPoller(RsocketCalls calls, RaisableDescriptor wakeUp) {
        this.calls = calls;
        this.wakeUp = wakeUp;
    }

    static RsocketPoller start(RsocketCalls calls) throws FabricException {
        var poller = new RsocketPoller(calls, RaisableDescriptor.open());
        Thread.ofPlatform().daemon().name("jrdma-rsocket-poll").start(poller::run);
        return poller;
    }

    /** Notifies {@code target} once when one of the events occurs. */
    synchronized void watch(Watched target, int events) {
        var watch = watches.computeIfAbsent(target.number(), _ -> new Watch(target));
        if ((watch.events & events) != events) {
            watch.events |= events;
            if (!watch.suspended) {
                wakeUp();
            }
        }
    }

    /**
     * Stops polling an rsocket until {@link #resume}. Waits until the thread of the poller has left
     * rpoll, so that thread itself must not call this method.
     */
    synchronized void suspend(Watched target) {
        watches.computeIfAbsent(target.number(), _ -> new Watch(target)).suspended = true;
        awaitRound();
    }

    /** Polls an rsocket again after {@link #suspend}. */
    synchronized void resume(Watched target) {
        var watch = watches.get(target.number());
        if (watch != null) {
            watch.suspended = false;
            wakeUp();
        }
    }

    /**
     * Removes an rsocket from the poller. Waits until the thread of the poller has left rpoll, like
     * {@link #suspend}.
     */
    synchronized void forget(Watched target) {
        if (watches.remove(target.number()) != null) {
            awaitRound();
        }
    }

    /** Waits until the thread of the poller has left the current call of rpoll. */
    private void awaitRound() {
        wakeUp();
        var now = round;
        UninterruptibleWait.until(this, () -> !polling || round != now);
    }

    private void wakeUp() {
        if (polling && !woken) {
            woken = true;
            wakeUp.raise();
        }
    }

    private void run() {
        while (true) {
            try {
                if (pollOnce() < 0) {
                    // Rpoll has failed: memory is exhausted, or a signal has interrupted the call.
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            } catch (Throwable e) {
                // The thread continues after a failure, because all streams depend on it.
                FailureLog.errorAndPause(LOG, "Could not poll the rsockets", e);
            }
        }
    }

    private int pollOnce() {
        MemorySegment polled;
        synchronized (this) {
            polled = collect();
            polling = true;
        }
        var count = -1;
        try {
            count = calls.poll(polled, true);
        } finally {
            endRound();
        }
        for (var i = 0; count > 0 && i < watched.size(); i++) {
            report(watched.get(i), pollfd.revents(pollfd.asSlice(polled, i + 1)));
        }
        return count;
    }

    private synchronized void endRound() {
        polling = false;
        round++;
        if (woken) {
            woken = false;
            wakeUp.lower();
        }
        notifyAll();
    }

    private MemorySegment collect() {
        watched.clear();
        for (var watch : watches.values()) {
            if (watch.events != 0 && !watch.suspended) {
                watched.add(watch);
            }
        }
        var count = watched.size() + 1L;
        if (descriptors.byteSize() < count * pollfd.sizeof()) {
            descriptors = pollfd.allocateArray(2 * count, Arena.ofAuto());
        }
        set(0, wakeUp.number(), SocketCalls.POLLIN);
        for (var i = 0; i < watched.size(); i++) {
            set(i + 1, watched.get(i).target.number(), watched.get(i).events);
        }
        return descriptors.asSlice(0, count * pollfd.sizeof());
    }

    private void set(int index, int number, int events) {
        var one = pollfd.asSlice(descriptors, index);
        pollfd.fd(one, number);
        pollfd.events(one, (short) events);
        pollfd.revents(one, (short) 0);
    }

    /** Notifies the target of a watch. If that fails, the target is notified in the next round. */
    private void report(Watch watch, int events) {
        if (events == 0) {
            return;
        }
        int awaited;
        synchronized (this) {
            if (watches.get(watch.target.number()) != watch) {
                return;
            }
            awaited = watch.events;
            watch.events &= (events & ENDED) == 0 ? ~events : 0;
        }
        try {
            watch.target.eventOccurred();
        } catch (Throwable e) {
            synchronized (this) {
                watch.events |= awaited;
            }
            FailureLog.errorAndPause(LOG, "Could not report an event of an rsocket", e);
        }
    }
}
