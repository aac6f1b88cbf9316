package org.jrdma.ffi.linkage;

import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits on one descriptor for any number of Java threads, none of which enters the kernel.
 *
 * <p>A single daemon thread of the process sits in {@code epoll_wait} for all who wait to read, and
 * another for those who wait to write; whoever waits parks in Java. So a virtual thread never holds
 * its carrier, and deadline, interrupt and wake-up by close work alike everywhere.
 *
 * <p>Either threads call {@link #await}, or a callback is {@linkplain #watch watching}; in both
 * cases the descriptor must have been made non-blocking. Close the waiter before the descriptor.
 */
public final class DescriptorWaiter implements AutoCloseable {

    private final int descriptor;
    private final Poller poller;
    private final long key;
    private final Runnable onReady;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    private long timesReady;
    private boolean armed;
    private boolean closed;

    private DescriptorWaiter(int descriptor, Poller poller, Runnable onReady)
            throws FabricException {
        this.descriptor = descriptor;
        this.poller = poller;
        this.onReady = onReady;
        this.key = poller.add(this);
    }

    /** For threads that {@link #await} this descriptor. */
    public static DescriptorWaiter on(int descriptor) throws FabricException {
        return new DescriptorWaiter(descriptor, Readers.POLLER, () -> {});
    }

    /**
     * For threads that await that this descriptor can be written to; where others here say
     * "readable", it is that. One descriptor can have one waiter of each kind.
     */
    public static DescriptorWaiter onWritable(int descriptor) throws FabricException {
        return new DescriptorWaiter(descriptor, Writers.POLLER, () -> {});
    }

    /**
     * Calls {@code onReady} on the polling thread, once after each {@link #arm()}, when the
     * descriptor is readable. It must neither wait nor run code of the user's: everyone else's
     * waits hang on that thread. What takes long it does in pieces, by {@link #again()}.
     */
    public static DescriptorWaiter watch(int descriptor, Runnable onReady) throws FabricException {
        return new DescriptorWaiter(descriptor, Readers.POLLER, onReady);
    }

    /**
     * Asks for one call of the callback. If the descriptor is readable already, the call comes at
     * once.
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
     * Asks for one more call of the callback, readable or not, when all other descriptors have had
     * their turn. For the callback itself.
     */
    public void again() {
        poller.unfinished.add(this);
    }

    /**
     * What {@link #await} needs to know: how often the descriptor has been found readable. Taken
     * before the last look at what is waited for, so that nothing is missed in between.
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
     * Parks until the descriptor has been found readable since {@code ticket} was taken, by this
     * thread or another.
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
                    throw new IllegalStateException("closed while waiting");
                }
                armWhileLocked();
                if (deadline.equals(Deadline.NEVER)) {
                    changed.await(); // a virtual thread sets a timer for everything else
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
            throw new InterruptedIOException("interrupted while waiting");
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends all waits whose ticket is of before. For whoever has made the descriptor unreadable:
     * what another thread waits for may have come and gone without having been found.
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
     * Ends all waits with IllegalStateException. After it, no callback runs, unless this is called
     * from the callback itself.
     */
    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            poller.remove(this);
            changed.signalAll();
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
     * Called by the polling thread. The lock is held during the callback, so that close() waits for
     * it.
     */
    private void ready() {
        lock.lock();
        try {
            if (!armed) {
                return; // epoll tells of a descriptor that failed whether it was asked to or not
            }
            armed = false;
            timesReady++;
            changed.signalAll();
            callBack();
        } finally {
            lock.unlock();
        }
    }

    private void callBack() {
        lock.lock();
        try {
            if (!closed) {
                onReady.run();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Made when the first thread waits for a descriptor to become readable. */
    private static final class Readers {
        static final Poller POLLER = new Poller("jrdma-poller", Linux.EPOLLIN);
    }

    /** Made when the first waits to write, which few do: so it has a thread of its own. */
    private static final class Writers {
        static final Poller POLLER = new Poller("jrdma-write-poller", Linux.EPOLLOUT);
    }

    /** A thread in epoll_wait. */
    private static final class Poller {

        private static final Logger LOG = LoggerFactory.getLogger(DescriptorWaiter.class);
        private static final int BATCH = 64;

        private final Map<Long, DescriptorWaiter> waiters = new ConcurrentHashMap<>();
        private final AtomicLong nextKey = new AtomicLong();
        private final int epoll;
        private final int awaited;

        /** Those whose callbacks asked to be called again. For the polling thread. */
        private final Queue<DescriptorWaiter> unfinished = new ArrayDeque<>();

        private Poller(String name, int awaited) {
            this.awaited = awaited;
            try {
                epoll = Linux.epollCreate();
            } catch (FabricException e) {
                throw new IllegalStateException(
                        "No thread can wait for descriptors: " + e.getMessage(), e);
            }
            Thread.ofPlatform().daemon().name(name).start(this::run);
        }

        long add(DescriptorWaiter waiter) throws FabricException {
            var key = nextKey.getAndIncrement();
            waiters.put(key, waiter);
            try {
                control(Linux.EPOLL_CTL_ADD, waiter.descriptor, Linux.EPOLLONESHOT, key);
            } catch (FabricException e) {
                waiters.remove(key);
                throw e;
            }
            return key;
        }

        void arm(DescriptorWaiter waiter) throws FabricException {
            control(
                    Linux.EPOLL_CTL_MOD,
                    waiter.descriptor,
                    awaited | Linux.EPOLLONESHOT,
                    waiter.key);
        }

        void remove(DescriptorWaiter waiter) {
            waiters.remove(waiter.key);
            try {
                control(Linux.EPOLL_CTL_DEL, waiter.descriptor, 0, waiter.key);
            } catch (FabricException e) {
                LOG.warn("A descriptor was closed before its waiter: {}", e.getMessage());
            }
        }

        private void control(int operation, int descriptor, int events, long key)
                throws FabricException {
            try (var arena = Arena.ofConfined()) {
                var event = arena.allocate(Linux.EpollEvent.BYTES, 8);
                Linux.EpollEvent.set(event, events, key);
                Linux.epollControl(epoll, operation, descriptor, event);
            }
        }

        private void run() {
            MemorySegment events = Arena.ofAuto().allocate(BATCH * Linux.EpollEvent.BYTES, 8);
            while (true) {
                try {
                    var calls = unfinished.size();
                    var count = Linux.epollWait(epoll, events, BATCH, calls == 0 ? -1 : 0);
                    for (var i = 0; i < count; i++) {
                        var waiter = waiters.get(Linux.EpollEvent.data(events, i));
                        if (waiter != null) {
                            tell(waiter, DescriptorWaiter::ready);
                        }
                    }
                    for (; calls > 0; calls--) {
                        tell(unfinished.remove(), DescriptorWaiter::callBack);
                    }
                } catch (FabricException e) {
                    LOG.error("The polling thread goes on after a failure", e);
                }
            }
        }

        /** Goes on whatever a callback throws: all waits of the process hang on this thread. */
        private static void tell(DescriptorWaiter waiter, Consumer<DescriptorWaiter> call) {
            try {
                call.accept(waiter);
            } catch (Throwable e) {
                LOG.error("The callback for descriptor {} failed", waiter.descriptor, e);
            }
        }
    }
}
