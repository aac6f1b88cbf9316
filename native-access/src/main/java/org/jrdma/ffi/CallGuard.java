package org.jrdma.ffi;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How one thread says that it is inside a short native call, at no cost to it.
 *
 * <p>The thread marks its guard, looks whether the objects it is about to use are closed, calls,
 * and unmarks: plain stores and loads, no fence and no atomic instruction. The cost is on the side
 * of close(), which first sets its flag and then calls {@link #awaitCallsInFlight()}: a barrier
 * through every thread of the process, after which each guard is either seen marked, and waited
 * for, or its thread will see the flag.
 *
 * <p>For calls that last microseconds, such as post and poll: every close in the process waits for
 * them. What may last longer takes {@link Lifetime#hold()}.
 */
public final class CallGuard {

    private static final VarHandle CALLS;

    static {
        try {
            CALLS = MethodHandles.lookup().findVarHandle(CallGuard.class, "calls", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final List<CallGuard> ALL = new ArrayList<>();
    private static final ThreadLocal<CallGuard> CURRENT =
            ThreadLocal.withInitial(CallGuard::register);

    /** Held by the one who runs a barrier. */
    private static final ReentrantLock BARRIER = new ReentrantLock();

    private static final AtomicLong BARRIERS_BEGUN = new AtomicLong();

    /** The number of the last one that has ended. Guarded by {@code BARRIER}. */
    private static long barriersEnded;

    private final WeakReference<Thread> thread = new WeakReference<>(Thread.currentThread());

    /** Odd while the thread is inside a call. Written by that thread only. */
    private long calls;

    // Keeps two threads' counters out of one cache line.
    @SuppressWarnings("unused")
    private long pad1,
            pad2,
            pad3,
            pad4,
            pad5,
            pad6,
            pad7,
            pad8,
            pad9,
            pad10,
            pad11,
            pad12,
            pad13,
            pad14,
            pad15;

    private CallGuard() {}

    /** The current thread's guard. Look it up once and keep it where calls are prepared. */
    public static CallGuard ofCurrentThread() {
        return CURRENT.get();
    }

    /**
     * Marks the start of a call. After it, ask {@link Lifetime#isClosed()} of everything the call
     * will use; then call; then {@link #exit()}, always.
     */
    public void enter() {
        CALLS.setOpaque(this, calls + 1);
    }

    /** Marks the end of a call. */
    public void exit() {
        CALLS.setRelease(this, calls + 1);
    }

    /**
     * Returns when every call has ended that began before the caller's last store was visible to
     * it. Takes some ten microseconds, and more where there are many threads; who calls it while
     * another does waits for that one, and shares the next barrier with all who wait as well.
     */
    public static void awaitCallsInFlight() {
        var next = BARRIERS_BEGUN.get() + 1; // one that has begun may have passed a thread already
        BARRIER.lock();
        try {
            if (barriersEnded < next) {
                var number = BARRIERS_BEGUN.incrementAndGet();
                passThroughAllThreads();
                barriersEnded = number;
            }
        } finally {
            BARRIER.unlock();
        }
    }

    private static void passThroughAllThreads() {
        List<CallGuard> guards;
        synchronized (ALL) {
            ALL.removeIf(CallGuard::isAbandoned);
            if (ALL.isEmpty()) {
                return;
            }
            guards = List.copyOf(ALL);
        }
        // Closing a shared arena stops every thread for a moment, so that each sees what this one
        // stored, and this one what each stored before.
        Arena.ofShared().close();
        for (var guard : guards) {
            guard.awaitEnd();
        }
    }

    private void awaitEnd() {
        var seen = (long) CALLS.getAcquire(this);
        if ((seen & 1) == 1) {
            ShortWait.until(() -> (long) CALLS.getAcquire(this) != seen);
        }
    }

    private boolean isAbandoned() {
        var owner = thread.get();
        return owner == null || !owner.isAlive();
    }

    private static CallGuard register() {
        var guard = new CallGuard();
        guard.enter(); // links what they need now: an exit must not fail
        guard.exit();
        synchronized (ALL) {
            ALL.add(guard);
        }
        return guard;
    }
}
