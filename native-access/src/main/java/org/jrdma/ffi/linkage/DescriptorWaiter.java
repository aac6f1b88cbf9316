package org.jrdma.ffi.linkage;

import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.guard.CloseWaitPermission;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets any number of Java threads wait until one file descriptor is readable or writable, without
 * blocking in the kernel.
 *
 * <p>One daemon thread of the process runs {@code epoll_wait} for all descriptors that must become
 * readable, and a second one for all that must become writable. The waiting threads park in Java.
 * Therefore, a virtual thread releases its carrier, and deadlines, interrupts and wake-ups by close
 * work in the same way for platform and virtual threads.
 *
 * <p>A waiter either serves threads that call {@link #await}, or calls a callback that was passed
 * to {@link #watch}. In both cases the descriptor must be non-blocking. The waiter must be closed
 * before the descriptor.
 */
public final class DescriptorWaiter implements AutoCloseable {

    private static @Nullable Poller readers;
    private static @Nullable Poller writers;

    private final int descriptor;
    private final Poller poller;
    private final long key;
    private final Runnable onReady;

    /** The memory for the arguments of {@link LinuxCalls#epollControl}. */
    private final MemorySegment event = Arena.ofAuto().allocate(LinuxCalls.EpollEvent.BYTES, 8);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    private long timesReady;
    private boolean armed;
    private boolean closed;

    /** True if the descriptor is ready and the waiting threads must still be notified. */
    private boolean readyDue;

    /** True if the callback must run. */
    private boolean callDue;

    /** The next waiter in the polling thread's list, or this waiter if it is the last. */
    private @Nullable DescriptorWaiter next;

    private DescriptorWaiter(int descriptor, Poller poller, Runnable onReady)
            throws FabricException {
        this.descriptor = descriptor;
        this.poller = poller;
        this.onReady = onReady;
        this.key = poller.add(this);
    }

    /**
     * Creates a waiter for threads that call {@link #await} until the descriptor becomes readable.
     */
    public static DescriptorWaiter on(int descriptor) throws FabricException {
        return new DescriptorWaiter(descriptor, readers(), () -> {});
    }

    /**
     * Creates a waiter for threads that call {@link #await} until the descriptor becomes writable.
     * For this waiter, "readable" in the descriptions of the other methods means writable. A
     * descriptor can have at most one waiter for reading and one for writing.
     */
    public static DescriptorWaiter onWritable(int descriptor) throws FabricException {
        return new DescriptorWaiter(descriptor, writers(), () -> {});
    }

    /**
     * Creates a waiter that calls {@code onReady} on the polling thread when the descriptor becomes
     * readable, once for each {@link #arm()}. The callback must neither block nor run code of the
     * program, because it delays all other waits of the process. A callback should divide a long
     * task over several calls, and request each further call by {@link #callAgain()}. If a callback
     * throws a {@link VirtualMachineError}, such as an OutOfMemoryError, it is called again after a
     * short time.
     */
    public static DescriptorWaiter watch(int descriptor, Runnable onReady) throws FabricException {
        return new DescriptorWaiter(descriptor, readers(), onReady);
    }

    /**
     * Requests one call of the callback when the descriptor is readable. If the descriptor is
     * already readable, the polling thread makes the call immediately.
     */
    public void arm() throws FabricException {
        lock.lock();
        try {
            armWhileLocked();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Requests another call of the callback even if the descriptor does not become readable again.
     * The polling thread first processes the other ready descriptors. Only the callback itself may
     * call this method.
     */
    public void callAgain() {
        callDue = true;
        poller.enqueue(this);
    }

    /**
     * Returns a ticket for {@link #await}: the number of times that the descriptor has been found
     * readable. Callers must take the ticket before they check the awaited condition for the last
     * time. Otherwise, they would miss an event between the check and the wait.
     */
    public long ticket() {
        lock.lock();
        try {
            return timesReady;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Parks until the descriptor has been found readable after {@code ticket} was taken.
     *
     * @return false if the deadline passed first
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if the waiter is closed
     */
    public boolean await(long ticket, Deadline deadline)
            throws FabricException, InterruptedIOException {
        lock.lock();
        try {
            while (timesReady == ticket) {
                if (closed) {
                    throw new IllegalStateException("The waiter was closed during the wait");
                }
                armWhileLocked();
                if (deadline.equals(Deadline.NEVER)) {
                    changed.await(); // A timed wait of a virtual thread would create a timer.
                    continue;
                }
                var remaining = deadline.remainingNanos();
                if (remaining <= 0) {
                    return false;
                }
                changed.awaitNanos(remaining);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("The thread was interrupted during the wait");
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends all waits whose tickets were taken before this call. A thread must call this method
     * after it has read from the descriptor, because the event that another thread waits for may be
     * among the data read. The descriptor does not become readable for that event again.
     */
    public void wake() {
        lock.lock();
        try {
            timesReady++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Closes this waiter. All waits end with IllegalStateException. No callback runs after this
     * method returns, unless the callback itself called it.
     */
    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            changed.signalAll();
            poller.remove(this);
        } finally {
            lock.unlock();
        }
    }

    private void armWhileLocked() throws FabricException {
        if (!armed && !closed) {
            poller.arm(this);
            armed = true;
        }
    }

    /**
     * Wakes up the waiting threads and calls the callback. The polling thread calls this method.
     * The lock is held during the callback, so that close() waits for the end of the callback.
     */
    private void serve() {
        lock.lock();
        try {
            if (readyDue) {
                readyDue = false;
                if (armed) { // epoll reports errors and hang-ups even if they were not requested.
                    armed = false;
                    timesReady++;
                    changed.signalAll();
                    callDue = true;
                }
            }
            if (callDue) {
                callDue = false;
                if (!closed) {
                    callBack();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void callBack() {
        try {
            // A thread in close() may wait for this waiter's lock.
            CloseWaitPermission.forbidDuring(onReady);
        } catch (VirtualMachineError e) {
            callDue = true;
            throw e;
        }
    }

    /** Returns the poller for reading, which is started when the first such waiter is created. */
    private static synchronized Poller readers() throws FabricException {
        if (readers == null) {
            readers = Poller.start("jrdma-poller", LinuxCalls.EPOLLIN);
        }
        return readers;
    }

    /** Returns the poller for writing, which few programs need. */
    private static synchronized Poller writers() throws FabricException {
        if (writers == null) {
            writers = Poller.start("jrdma-write-poller", LinuxCalls.EPOLLOUT);
        }
        return writers;
    }

    /** A thread that polls descriptors, and its epoll descriptor. */
    private static final class Poller {

        private static final Logger LOG = LoggerFactory.getLogger(DescriptorWaiter.class);
        private static final int BATCH = 64;

        private final Map<Long, DescriptorWaiter> waiters = new ConcurrentHashMap<>();
        private final AtomicLong nextKey = new AtomicLong();
        private final int epoll;
        private final int awaited;
        private final PollingBudget polling = PollingBudget.ofThisProcess();

        /** The number of events that epoll has reported. */
        private long reported;

        /**
         * The waiters to be served, linked by {@link DescriptorWaiter#next}. Accessed only by the
         * polling thread. A linked list is used instead of a collection, which would need memory to
         * add an element.
         */
        private @Nullable DescriptorWaiter first;

        private @Nullable DescriptorWaiter last;

        private final MemorySegment events =
                Arena.ofAuto().allocate(BATCH * LinuxCalls.EpollEvent.BYTES, 8);

        private Poller(int epoll, int awaited) {
            this.epoll = epoll;
            this.awaited = awaited;
        }

        static Poller start(String name, int awaited) throws FabricException {
            var poller = new Poller(LinuxCalls.epollCreate(), awaited);
            Thread.ofPlatform().daemon().name(name).start(poller::run);
            return poller;
        }

        long add(DescriptorWaiter waiter) throws FabricException {
            var key = nextKey.getAndIncrement();
            waiters.put(key, waiter);
            try {
                control(LinuxCalls.EPOLL_CTL_ADD, waiter, LinuxCalls.EPOLLONESHOT, key);
            } catch (Throwable e) {
                waiters.remove(key);
                throw e;
            }
            return key;
        }

        void arm(DescriptorWaiter waiter) throws FabricException {
            control(
                    LinuxCalls.EPOLL_CTL_MOD,
                    waiter,
                    awaited | LinuxCalls.EPOLLONESHOT,
                    waiter.key);
        }

        void remove(DescriptorWaiter waiter) {
            waiters.remove(waiter.key);
            try {
                control(LinuxCalls.EPOLL_CTL_DEL, waiter, 0, waiter.key);
            } catch (FabricException e) {
                LOG.warn(
                        "Descriptor {} was closed before its waiter: {}",
                        waiter.descriptor,
                        e.getMessage());
            }
        }

        private void control(int operation, DescriptorWaiter waiter, int events, long key)
                throws FabricException {
            LinuxCalls.EpollEvent.set(waiter.event, events, key);
            LinuxCalls.epollControl(epoll, operation, waiter.descriptor, waiter.event);
        }

        /** Adds a waiter to the list of those to be served, unless the list already contains it. */
        void enqueue(DescriptorWaiter waiter) {
            if (waiter.next != null) {
                return;
            }
            waiter.next = waiter;
            if (last == null) {
                first = waiter;
            } else {
                last.next = waiter;
            }
            last = waiter;
        }

        /**
         * The loop of the polling thread. Never ends, because all waits of the process depend on
         * this thread.
         */
        private void run() {
            while (true) {
                try {
                    var isPolling = polling.permitsPolling(reported, System.nanoTime());
                    var count =
                            LinuxCalls.epollWait(
                                    epoll, events, BATCH, isPolling || first != null ? 0 : -1);
                    reported += count;
                    if (isPolling && count == 0) {
                        polling.pause();
                    }
                    for (var i = 0; i < count; i++) {
                        addReady(LinuxCalls.EpollEvent.data(events, i));
                    }
                } catch (Throwable e) {
                    FailureLog.errorAndPause(
                            LOG, "epoll_wait failed. The polling thread continues.", e);
                }
                serveAll();
            }
        }

        /**
         * Adds the waiter with the given key to those to be served. Repeats this until there is
         * enough memory, because epoll reports an event only once.
         */
        private void addReady(long key) {
            while (true) {
                try {
                    var waiter = waiters.get(key);
                    if (waiter != null) {
                        waiter.readyDue = true;
                        enqueue(waiter);
                    }
                    return;
                } catch (VirtualMachineError e) {
                    FailureLog.errorAndPause(
                            LOG, "Finding the waiter of a descriptor failed and is repeated", e);
                }
            }
        }

        private void serveAll() {
            var waiter = first;
            first = null;
            last = null;
            while (waiter != null) {
                var following = waiter.next;
                waiter.next = null;
                serve(waiter);
                waiter = following == waiter ? null : following;
            }
        }

        private void serve(DescriptorWaiter waiter) {
            try {
                waiter.serve();
            } catch (VirtualMachineError e) {
                enqueue(waiter);
                FailureLog.errorAndPause(
                        LOG, "A callback for a descriptor failed and is repeated", e);
            } catch (Throwable e) {
                FailureLog.error(LOG, "The callback for a descriptor failed", e);
            }
        }
    }
}
