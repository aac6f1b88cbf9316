package org.jrdma.sockets.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.sisci.LocalInterrupt;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.model.SisciException;
import org.jrdma.sockets.internal.ThreadParker;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives the wake-ups that peers send to this process.
 *
 * <p>One thread at a time, the leader, waits for the interrupt of this process. After each trigger,
 * it scans the streams that peers have marked in the {@link WakeUpMarks}, which wakes up the
 * threads of the streams that have become ready. The leader is one of the platform threads that
 * wait for a stream, so that a peer wakes up the only waiting thread of a process directly. When
 * the stream of the leader is ready, another waiting platform thread becomes the leader. A virtual
 * thread never becomes the leader, because it would pin its carrier. While only virtual threads and
 * selectors wait, a service thread is the leader.
 *
 * <p>Triggers that arrive while there is no leader remain pending until the next leader waits. Safe
 * for use by multiple threads.
 */
final class IncomingWakeUps {

    private static final Logger LOG = LoggerFactory.getLogger(IncomingWakeUps.class);

    /**
     * The maximum duration of one wait for the interrupt. A longer wait consists of several. This
     * limits the delay of a wake-up by another thread of this process if {@code own} cannot be
     * triggered.
     */
    static final Duration MAX_WAIT = Duration.ofMillis(200);

    /** The pause after a wait for the interrupt has failed. */
    private static final long PAUSE_NANOS = 10_000_000;

    private final LocalInterrupt interrupt;

    /** The connection by which threads of this process end the wait of the leader. */
    private final @Nullable RemoteInterrupt own;

    private final Duration maxWait;
    private final Runnable scanMarked;
    private final Thread service =
            Thread.ofPlatform().daemon().name("jrdma-sisci-wake-up").unstarted(this::serve);

    // Guarded by this

    /** The thread that waits for the interrupt, or has been chosen to do so. */
    private @Nullable Thread leader;

    /** The waiting platform threads except the leader, in the order of their arrival. */
    private final Set<Waiter> followers = new LinkedHashSet<>();

    /**
     * True if a leader is needed even if no platform thread waits. Set after a virtual thread or a
     * selector starts to wait, and determined again by {@link #scanAll}.
     */
    private boolean serviceNeeded;

    /**
     * Creates an object without a service thread.
     *
     * @param interrupt the interrupt of this process
     * @param own a connection to {@code interrupt}; null if the driver does not support one
     * @param maxWait the maximum duration of one wait for the interrupt; see {@link #MAX_WAIT}
     * @param scanMarked scans the streams that peers have marked
     */
    IncomingWakeUps(
            LocalInterrupt interrupt,
            @Nullable RemoteInterrupt own,
            Duration maxWait,
            Runnable scanMarked) {
        this.interrupt = interrupt;
        this.own = own;
        this.maxWait = maxWait;
        this.scanMarked = scanMarked;
    }

    /** Starts the service thread. */
    void start() {
        service.start();
    }

    /** Creates an object by which the current thread sleeps until a stream may be ready. */
    ThreadParker parker() {
        return new Waiter();
    }

    /**
     * Ensures that a thread receives wake-ups for a waiting thread that cannot be the leader, or
     * for a selector.
     */
    void requireService() {
        boolean absent;
        synchronized (this) {
            serviceNeeded = true;
            absent = leader == null;
        }
        if (absent) {
            LockSupport.unpark(service);
        }
    }

    /** A thread that waits for a stream. */
    private final class Waiter implements ThreadParker {

        private final Thread thread = Thread.currentThread();
        private final AtomicBoolean woken = new AtomicBoolean();

        /** True while the thread may be waiting for the interrupt, and not parked. */
        private volatile boolean awaitsInterrupt;

        @Override
        public void park(Deadline deadline) {
            if (thread.isVirtual()) {
                requireService();
                follow(deadline);
                woken.getAndSet(false);
                return;
            }
            try {
                if (!join(this)) {
                    follow(deadline);
                }
                if (isLeader(thread)) {
                    lead(deadline);
                }
            } finally {
                leave(this);
                // A get, so that this thread sees all that happened before the wake-up.
                woken.getAndSet(false);
            }
        }

        private boolean isDone(Deadline deadline) {
            return woken.get() || thread.isInterrupted() || deadline.hasPassed();
        }

        private void follow(Deadline deadline) {
            if (!isDone(deadline)) {
                ThreadParker.park(IncomingWakeUps.this, deadline);
            }
        }

        private void lead(Deadline deadline) {
            while (!isDone(deadline)) {
                awaitsInterrupt = true;
                try {
                    // Checked again, because before, wakeUp() did not trigger the interrupt.
                    if (!woken.get() && awaitTrigger(deadline)) {
                        scanMarked.run();
                    }
                } finally {
                    awaitsInterrupt = false;
                }
            }
        }

        @Override
        public void wakeUp() {
            woken.set(true);
            if (thread == Thread.currentThread()) {
                return; // The leader has found during its scan that its own stream is ready.
            }
            if (awaitsInterrupt) {
                endWait();
            } else {
                LockSupport.unpark(thread);
            }
        }
    }

    /** Makes a waiting thread the leader or a follower. Returns true if it is the leader. */
    private boolean join(Waiter waiter) {
        boolean replacesService;
        synchronized (this) {
            if (leader == null) {
                leader = waiter.thread;
            }
            if (leader == waiter.thread) {
                return true;
            }
            followers.add(waiter);
            replacesService = leader == service && !serviceNeeded;
        }
        if (replacesService) {
            endWait();
        }
        return false;
    }

    private synchronized boolean isLeader(Thread thread) {
        return leader == thread;
    }

    /** Removes a thread that does not wait any more. If it is the leader, chooses another one. */
    private void leave(Waiter waiter) {
        Thread next = null;
        synchronized (this) {
            followers.remove(waiter);
            if (leader == waiter.thread) {
                next = chooseLeader();
            }
        }
        LockSupport.unpark(next);
    }

    /**
     * Replaces the leader by a follower, if there is one, or by none. The caller holds the lock.
     *
     * @return the thread to unpark, or null
     */
    private @Nullable Thread chooseLeader() {
        leader = null;
        for (var follower : followers) {
            if (!follower.woken.get()) {
                followers.remove(follower);
                leader = follower.thread;
                return leader;
            }
        }
        return serviceNeeded ? service : null;
    }

    /** Ends the current wait for the interrupt, or the next one. */
    private void endWait() {
        try {
            if (own != null) {
                own.trigger();
            }
        } catch (SisciException | IllegalStateException e) {
            LOG.debug("Could not end a wait for {}: {}", interrupt, e.getMessage());
        }
    }

    /** Waits for a trigger for a limited time. Returns true if the streams must be scanned. */
    private boolean awaitTrigger(Deadline deadline) {
        try {
            interrupt.await(min(maxWait, deadline));
            return true;
        } catch (FabricTimeoutException | InterruptedIOException _) {
            return false;
        } catch (FabricException | IllegalStateException e) {
            LOG.debug("Could not wait for {}: {}", interrupt, e.getMessage());
            LockSupport.parkNanos(this, PAUSE_NANOS);
            return true;
        }
    }

    private static Duration min(Duration limit, Deadline deadline) {
        var nanos = Math.max(0, deadline.remainingNanos());
        return nanos < limit.toNanos() ? Duration.ofNanos(nanos) : limit;
    }

    /**
     * Scans all streams, and determines whether the service thread is still needed.
     *
     * @param scan scans all streams; returns true if a stream needs wake-ups for which no platform
     *     thread waits
     */
    void scanAll(BooleanSupplier scan) {
        synchronized (this) {
            serviceNeeded = false;
        }
        var needed = true; // also if the scan fails
        try {
            needed = scan.getAsBoolean();
        } finally {
            if (needed) {
                requireService();
            }
        }
    }

    private void serve() {
        while (true) {
            try {
                if (leadsAsService()) {
                    var triggered = awaitTrigger(Deadline.NEVER);
                    if (triggered) {
                        scanMarked.run();
                    }
                    LockSupport.unpark(endService(triggered));
                } else {
                    LockSupport.park(this);
                }
            } catch (Throwable e) {
                FailureLog.errorAndPause(LOG, "Receiving wake-ups failed, and continues", e);
            }
        }
    }

    private synchronized boolean leadsAsService() {
        if (leader == null && serviceNeeded) {
            leader = service;
        }
        return leader == service;
    }

    /**
     * Lets the service thread stop waiting if it is not needed, and another thread can wait or the
     * last wait has timed out. The service thread does not stop immediately after a trigger,
     * because a virtual thread that the trigger has woken up often needs it again soon.
     *
     * @return the thread to unpark, or null
     */
    private synchronized @Nullable Thread endService(boolean triggered) {
        return serviceNeeded || (triggered && followers.isEmpty()) ? null : chooseLeader();
    }
}
