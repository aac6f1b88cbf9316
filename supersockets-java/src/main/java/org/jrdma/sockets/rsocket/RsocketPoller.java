package org.jrdma.sockets.rsocket;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.abi.rdma.pollfd;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.ffi.linkage.RaisableDescriptor;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.ThreadParker;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls all rsockets of this process on one thread at a time, because poll(2) does not support
 * rsockets, and a thread in rpoll wakes up all others in rpoll. A platform thread that waits
 * without a deadline polls itself if no other thread does, so that no other thread must wake it up.
 * Otherwise, a daemon thread polls while there is something to watch. The polling thread also polls
 * an event descriptor, by which other threads wake it up. Each watched event is reported once.
 */
final class RsocketPoller {

    private static final Logger LOG = LoggerFactory.getLogger(RsocketPoller.class);
    private static final int ENDED = RsocketCalls.POLLERR | RsocketCalls.POLLHUP;
    private static final long PAUSE_NANOS = 10_000_000;

    private final Function function;
    private final RaisableDescriptor wakeUp;
    private final Thread daemon;

    /** The function rpoll. */
    @FunctionalInterface
    interface Function {
        /** Waits until a descriptor has an event, and returns their number. */
        int poll(MemorySegment descriptors);
    }

    /** An rsocket whose events the poller reports. */
    interface Watched {

        int number();

        /** Called on the thread that polls when an awaited event has occurred. Must not wait. */
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

        boolean isPolled() {
            return events != 0 && !suspended;
        }
    }

    // Guarded by this
    private final Map<Integer, Watch> watches = new HashMap<>();
    private boolean woken;
    private boolean polling;
    private long round;

    /** The thread that polls, also between its calls of rpoll; null if there is none. */
    private @Nullable Thread pollingThread;

    /**
     * The argument of rpoll: the event descriptor, followed by the watched rsockets. Used only by
     * the thread that polls.
     */
    private MemorySegment descriptors = pollfd.allocateArray(16, Arena.ofAuto());

    private final List<Watch> watched = new ArrayList<>();

    private RsocketPoller(Function function, RaisableDescriptor wakeUp) {
        this.function = function;
        this.wakeUp = wakeUp;
        this.daemon = Thread.ofPlatform().daemon().name("jrdma-rsocket-poll").unstarted(this::run);
    }

    static RsocketPoller start(Function function) throws FabricException {
        var poller = new RsocketPoller(function, RaisableDescriptor.open());
        poller.daemon.start();
        return poller;
    }

    /**
     * Notifies {@code target} once when one of the events occurs, or at once if it has occurred
     * before.
     */
    synchronized void watch(Watched target, int events) {
        add(target, events);
        startDaemon();
    }

    private void add(Watched target, int events) {
        var watch = watches.computeIfAbsent(target.number(), _ -> new Watch(target));
        if ((watch.events & events) != events) {
            watch.events |= events;
            if (!watch.suspended) {
                wakeUp();
            }
        }
    }

    /**
     * Creates an object by which the current thread watches a target while it sleeps. The thread
     * polls if no other thread does.
     */
    ThreadParker parker(Watched target, int events) {
        return new PollingParker(target, events);
    }

    private final class PollingParker implements ThreadParker {

        private final Thread thread = Thread.currentThread();
        private final Watched target;
        private final int events;
        private volatile boolean isWoken;

        PollingParker(Watched target, int events) {
            this.target = target;
            this.events = events;
        }

        @Override
        public void park(Deadline deadline) {
            // a virtual thread in rpoll would occupy its carrier, and rpoll has no timeout
            var mayPoll = !thread.isVirtual() && deadline.equals(Deadline.NEVER);
            if (mayPoll && watchAndStartPolling(target, events)) {
                try {
                    var isWorking = true;
                    while (isWorking && !isWoken && !thread.isInterrupted()) {
                        isWorking = pollOrPause(this);
                    }
                } finally {
                    stopPolling();
                }
            } else {
                watch(target, events);
                if (!isWoken) {
                    ThreadParker.park(this, deadline);
                }
            }
            isWoken = false;
        }

        @Override
        public void wakeUp() {
            isWoken = true;
            wakeUpPollingThread(thread);
            LockSupport.unpark(thread);
        }
    }

    /** Makes the current thread the one that polls, unless there is one. */
    private synchronized boolean watchAndStartPolling(Watched target, int events) {
        if (pollingThread != null) {
            return false;
        }
        add(target, events); // first, because it can fail
        pollingThread = Thread.currentThread();
        return true;
    }

    private synchronized void stopPolling() {
        pollingThread = null;
        var isNeeded = true; // also if the check fails
        try {
            isNeeded = isNeeded();
        } finally {
            if (isNeeded) {
                LockSupport.unpark(daemon);
            }
        }
    }

    private synchronized void wakeUpPollingThread(Thread thread) {
        if (pollingThread == thread) {
            wakeUp();
        }
    }

    /** Makes the daemon thread poll if no thread does and there is something to watch. */
    private synchronized void startDaemon() {
        if (pollingThread == null && isNeeded()) {
            LockSupport.unpark(daemon);
        }
    }

    private boolean isNeeded() {
        for (var watch : watches.values()) {
            if (watch.isPolled()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Stops polling an rsocket until {@link #resume}. Waits until the polling thread has left
     * rpoll, so {@link Watched#eventOccurred} must not call this method.
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
            startDaemon();
        }
    }

    /**
     * Removes an rsocket from the poller. Waits until the polling thread has left rpoll, like
     * {@link #suspend}.
     */
    synchronized void forget(Watched target) {
        if (watches.remove(target.number()) != null) {
            awaitRound();
        }
    }

    /** Waits until the polling thread has left the current call of rpoll. */
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
                if (startPollingIfNeeded()) {
                    try {
                        var _ = pollOrPause(null);
                    } finally {
                        stopPolling();
                    }
                } else {
                    LockSupport.park(this);
                }
            } catch (Throwable e) {
                FailureLog.errorAndPause(LOG, "Could not poll the rsockets", e);
            }
        }
    }

    private synchronized boolean startPollingIfNeeded() {
        if (pollingThread != null || !isNeeded()) {
            return false;
        }
        pollingThread = daemon;
        return true;
    }

    /** Polls once. Pauses after a failure, and returns false. */
    private boolean pollOrPause(@Nullable PollingParker parker) {
        try {
            if (pollOnce(parker) >= 0) {
                return true;
            }
            // Rpoll has failed: memory is exhausted, or a signal has interrupted the call.
            LockSupport.parkNanos(PAUSE_NANOS);
        } catch (Throwable e) {
            FailureLog.errorAndPause(LOG, "Could not poll the rsockets", e);
        }
        return false;
    }

    /**
     * @param parker the parker whose thread polls; null for the daemon thread
     */
    private int pollOnce(@Nullable PollingParker parker) {
        MemorySegment polled;
        synchronized (this) {
            polled = collect();
            polling = true;
        }
        var count = -1;
        try {
            // a later wakeUp() raises the descriptor, because polling is true
            count = parker != null && parker.isWoken ? 0 : function.poll(polled);
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
            if (watch.isPolled()) {
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
