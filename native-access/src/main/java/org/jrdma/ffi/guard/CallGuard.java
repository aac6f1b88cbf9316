package org.jrdma.ffi.guard;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Marks that its thread is inside a short native call. The mark costs this thread neither a lock
 * nor a full memory barrier.
 *
 * <p>The calling thread runs
 *
 * <pre>{@code
 * guard.enter();                       // the next odd number of calls
 * try {
 *     if (lifetime.isClosed()) throw ...;
 *     // the native call
 * } finally {
 *     guard.exit();                    // the next even number of calls
 * }
 * }</pre>
 *
 * and close() sets the closed flag, calls {@link #awaitCallsInFlight()}, and destroys the native
 * object. {@code awaitCallsInFlight()} runs a {@link Barrier} in every thread of the process, and
 * then waits for each guard whose {@code calls} is odd.
 *
 * <p><b>Why this is safe.</b> The calling thread stores {@code calls} and then loads the flag; the
 * closing thread stores the flag and then loads {@code calls}. At least one of them must see the
 * other's store. This requires a full barrier between store and load on both sides. The calling
 * thread executes no such barrier itself: the closing thread triggers one in it. Let B be the point
 * in the instructions of the calling thread at which that barrier took effect. If the store of
 * {@code calls} is before B, the closing thread sees it after the barrier, and waits. If the store
 * of {@code calls} is after B, the load of the flag is also after B, and sees that the object is
 * closed. A thread that was not running at that time executed a full barrier when the kernel
 * switched to another thread.
 *
 * <p><b>Guarantees of the compilers.</b> The argument needs the store before the load in the
 * machine code: {@link Barrier#MEMBARRIER} may interrupt a thread between any two instructions.
 * ({@link Barrier#HANDSHAKE} stops compiled code only at safepoint polls, so it does not depend on
 * this order.) The Java memory model does not guarantee the order: opaque accesses to different
 * variables are not ordered, an acquire or release fence orders everything except a store and a
 * later load, and a full fence costs as much as the native call. HotSpot guarantees it:
 *
 * <ul>
 *   <li>C2 puts a {@code MemBarCPUOrder} node before and after each opaque access, as {@code
 *       C2Access::needs_cpu_membar} requires for every {@code Unsafe} access that is not plain. The
 *       node takes the whole memory state and produces a new one, so memory accesses are not moved
 *       across it. The comment in HotSpot's source says that it is "not matched in the AD file", so
 *       no instruction is emitted for it. The fences of {@link VarHandle} are nodes of the same
 *       kind. Adding such a fence would have no effect except an instruction on AArch64.
 *   <li>Graal surrounds opaque accesses in the same way.
 *   <li>C1 and the interpreter do not implement opaque accesses: they execute {@code
 *       Unsafe.putLongOpaque}, which makes a volatile store.
 * </ul>
 *
 * Plain accesses have no such nodes, so the stores of {@code calls} and the loads of the flag must
 * not be plain. {@link #exit()} is a release: the reads and writes of the call precede it, in the
 * memory model and in the machine code, and {@code awaitCallsInFlight()} loads with acquire.
 *
 * <p><b>Unbalanced calls.</b> {@code enter()} always leaves an odd number, and {@code exit()} an
 * even one. Code that enters without exiting delays each close() in the process until its thread
 * makes the next guarded call or ends. It cannot make close() overlook a call, unless it exits
 * during a guarded call of the same thread.
 *
 * <p>Suitable for calls that last microseconds, such as post and poll, because every close() in the
 * process waits for them. Longer calls use {@code Lifetime.hold()}.
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
    private static final int MIN_SIZE_TO_PRUNE = 64;

    /**
     * If the list has this number of guards, the guards of ended threads are removed. Without this
     * limit, a program that starts many threads and closes no object would accumulate guards.
     * Guarded by {@link #ALL}.
     */
    private static int sizeToPrune = MIN_SIZE_TO_PRUNE;

    private static final ThreadLocal<CallGuard> CURRENT =
            ThreadLocal.withInitial(CallGuard::register);

    /** The lock that a thread holds while it runs a barrier and waits for guarded calls. */
    private static final ReentrantLock BARRIER_LOCK = new ReentrantLock();

    private static final AtomicLong BARRIERS_BEGUN = new AtomicLong();

    /** The number of the last completed barrier. Guarded by {@code BARRIER_LOCK}. */
    private static long barriersEnded;

    private final WeakReference<Thread> thread = new WeakReference<>(Thread.currentThread());

    /** Odd while the thread is inside a guarded call. Written only by that thread. */
    private long calls;

    // Padding that keeps the counters of two threads in different cache lines.
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

    /**
     * Returns the guard of the current thread. Callers should look it up once, when they prepare
     * calls, and reuse it.
     */
    public static CallGuard ofCurrentThread() {
        return CURRENT.get();
    }

    /**
     * Marks the start of a guarded call. The caller then checks {@code Lifetime.isClosed()} of each
     * object that the call uses, makes the native call, and always calls {@link #exit()}.
     */
    public void enter() {
        // Opaque, so that this store stays before the load in isClosed().
        CALLS.setOpaque(this, calls + 1 | 1);
    }

    /** Marks the end of a guarded call. */
    public void exit() {
        CALLS.setRelease(this, (calls | 1) + 1);
    }

    /**
     * Waits until no thread is inside a guarded call that started before the current thread's
     * latest volatile store, such as the store of a closed flag, was visible to it. The cost is a
     * few microseconds with {@link Barrier#MEMBARRIER}. While one thread runs a barrier, further
     * callers wait, and then share the next barrier.
     */
    public static void awaitCallsInFlight() {
        // A running barrier may have begun before the store of this thread, so the next one is
        // needed.
        var next = BARRIERS_BEGUN.get() + 1;
        BARRIER_LOCK.lock();
        try {
            if (barriersEnded < next) {
                var number = BARRIERS_BEGUN.incrementAndGet();
                runBarrierAndAwaitCalls();
                barriersEnded = number;
            }
        } finally {
            BARRIER_LOCK.unlock();
        }
    }

    private static void runBarrierAndAwaitCalls() {
        List<CallGuard> guards;
        synchronized (ALL) {
            ALL.removeIf(CallGuard::isAbandoned);
            if (ALL.isEmpty()) {
                return;
            }
            guards = List.copyOf(ALL);
        }
        Barrier.ofThisProcess().run();
        for (var guard : guards) {
            guard.awaitEnd();
        }
    }

    private void awaitEnd() {
        var seen = (long) CALLS.getAcquire(this);
        if ((seen & 1) == 1) {
            ShortWait.until(() -> (long) CALLS.getAcquire(this) != seen || isAbandoned());
        }
    }

    private boolean isAbandoned() {
        var owner = thread.get();
        return owner == null || !owner.isAlive();
    }

    private static CallGuard register() {
        var guard = new CallGuard();
        guard.enter(); // Links both methods now, because a later exit() must not fail.
        guard.exit();
        Barrier.ofThisProcess(); // Chooses the barrier now, because this may take milliseconds.
        synchronized (ALL) {
            if (ALL.size() >= sizeToPrune) {
                ALL.removeIf(CallGuard::isAbandoned);
                sizeToPrune = Math.max(MIN_SIZE_TO_PRUNE, 2 * ALL.size());
            }
            ALL.add(guard);
        }
        return guard;
    }
}
