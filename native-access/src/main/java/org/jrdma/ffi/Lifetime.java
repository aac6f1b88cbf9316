package org.jrdma.ffi;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jrdma.ffi.guard.CallGuard;
import org.jrdma.ffi.guard.ShortWait;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * From when to when a native object may be used: whether it is closed, who is using it now, and
 * what must be closed before it.
 *
 * <p>Kept apart from the {@link NativeObject} that has it, so that an owner, which holds its
 * dependents' lifetimes, does not keep a forgotten object from being found by the {@link Leaks}
 * reporter. Safe for use by several threads.
 */
public final class Lifetime {

    /**
     * Destroys the native object. Runs once, when nothing uses it any more. It must not refer to
     * the {@link NativeObject}.
     */
    @FunctionalInterface
    public interface Destructor {
        /** Destroys, or throws what the system answered. */
        void destroy() throws FabricException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(Lifetime.class);
    private static final int CLOSED = Integer.MIN_VALUE;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Lifetime.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * What has no owner, as long as it is open: it keeps all below it from being collected, so that
     * a device that a program forgot still finds its memory in place.
     */
    private static final Set<Lifetime> OPEN_ROOTS = ConcurrentHashMap.newKeySet();

    private final String name;
    private final Destructor destructor;
    private final List<Lifetime> owners;
    private final LinkedHashSet<Lifetime> dependents = new LinkedHashSet<>();
    private final List<Runnable> wakeups = new CopyOnWriteArrayList<>();
    private volatile boolean destroyed;
    private @Nullable volatile Thread closer;
    private @Nullable volatile Throwable made;

    /** The number of holds, and {@link #CLOSED}. */
    private volatile int state;

    /**
     * Begins now. Each owner must be held by the caller, and closes this before itself.
     *
     * @param name what to call the object in messages
     */
    public Lifetime(String name, List<Lifetime> owners, Destructor destructor) {
        this.name = name;
        this.owners = new CopyOnWriteArrayList<>(owners);
        this.destructor = destructor;
        for (var owner : owners) {
            synchronized (owner.dependents) {
                owner.dependents.add(this);
            }
        }
        if (owners.isEmpty()) {
            OPEN_ROOTS.add(this);
        }
        LOG.debug("Made {}", name);
    }

    /**
     * Closes this before another owner too, from now on. Both must be held by the caller; an owner
     * of the other's may not be this.
     */
    public void endWith(Lifetime owner) {
        synchronized (owner.dependents) {
            if (owner.dependents.add(this)) {
                owners.add(owner);
            }
        }
    }

    /**
     * Returns whether close() has begun. For a thread inside its {@code CallGuard}, or holding
     * this.
     */
    public boolean isClosed() {
        return (int) STATE.getOpaque(this) < 0;
    }

    /**
     * Keeps the object from being destroyed until {@link #release()}; close() waits for it. Never
     * waits itself. For calls of any length, but not for waiting, and not around a close.
     *
     * @throws IllegalStateException if the object is closed
     */
    public void hold() {
        if (state < 0) {
            throw closedException(); // without disturbing the count that close() watches
        }
        if ((int) STATE.getAndAdd(this, 1) < 0) {
            release();
            throw closedException();
        }
    }

    /** Ends a hold. */
    public void release() {
        STATE.getAndAdd(this, -1);
    }

    /**
     * Holds all of them, or none.
     *
     * @throws IllegalStateException if one is closed
     */
    public static void holdAll(List<Lifetime> lifetimes) {
        var held = 0;
        try {
            for (; held < lifetimes.size(); held++) {
                lifetimes.get(held).hold();
            }
        } catch (IllegalStateException e) {
            lifetimes.subList(0, held).forEach(Lifetime::release);
            throw e;
        }
    }

    /** What to throw when the object is used after its close. */
    public IllegalStateException closedException() {
        return new IllegalStateException(name + " is closed");
    }

    /**
     * Runs {@code wakeup} when close() begins, to end waits that would outlive the object. Runs at
     * once if it has begun.
     */
    public void onClose(Runnable wakeup) {
        wakeups.add(wakeup);
        if (isClosed()) {
            wakeup.run();
        }
    }

    /** Ends an {@link #onClose}: the same {@code wakeup} does not run any more. */
    public void noLongerOnClose(Runnable wakeup) {
        wakeups.remove(wakeup);
    }

    /**
     * Closes what depends on this, newest first, then waits for calls in flight, then destroys. If
     * another thread is at it, waits for that thread. What the system refuses is logged, not
     * thrown.
     */
    public void close() {
        if ((int) STATE.getAndBitwiseOr(this, CLOSED) < 0) {
            awaitOtherCloser();
            return;
        }
        closer = Thread.currentThread();
        try {
            wakeups.forEach(this::wake);
            ShortWait.until(() -> (int) STATE.getAcquire(this) == CLOSED);
            for (var dependent = newestDependent();
                    dependent != null;
                    dependent = newestDependent()) {
                dependent.close();
                remove(dependent);
            }
            CallGuard.awaitCallsInFlight();
            PlatformCalls.call(this::destroy);
            LOG.debug("Closed {}", name);
        } catch (FabricException e) {
            LOG.warn("Closing {}: {}", name, e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("Closing {} failed; its owners are closed all the same", name, e);
        } finally {
            owners.forEach(owner -> owner.remove(this));
            OPEN_ROOTS.remove(this);
            destroyed = true;
        }
    }

    /** What must be closed before this and is still open, the oldest first. */
    public List<Lifetime> dependents() {
        synchronized (dependents) {
            return List.copyOf(dependents);
        }
    }

    /** Where the object was made; known under {@code -Djrdma.leaks=trace} only. */
    public Optional<Throwable> made() {
        return Optional.ofNullable(made);
    }

    void made(@Nullable Throwable here) {
        made = here;
    }

    /** The name given at the beginning. */
    @Override
    public String toString() {
        return name;
    }

    private Lifetime destroy() throws FabricException {
        destructor.destroy();
        return this;
    }

    private void wake(Runnable wakeup) {
        try {
            wakeup.run();
        } catch (RuntimeException e) {
            LOG.error("Closing {}: a wake-up failed; it is destroyed all the same", name, e);
        }
    }

    private void awaitOtherCloser() {
        if (closer == Thread.currentThread()) {
            return; // closed again from within its own close, as by a listener
        }
        ShortWait.until(() -> destroyed);
    }

    private @Nullable Lifetime newestDependent() {
        synchronized (dependents) {
            return dependents.isEmpty() ? null : dependents.getLast();
        }
    }

    private void remove(Lifetime dependent) {
        synchronized (dependents) {
            dependents.remove(dependent);
        }
    }
}
