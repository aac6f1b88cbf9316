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
 * The lifetime of a native object: its state, its calls in flight, and the objects that must be
 * closed before it.
 *
 * <p>Separate from its {@link NativeObject}: an owner references the lifetimes of its dependents,
 * which must not keep a leaked object from being detected by {@link Leaks}. Safe for use by
 * multiple threads.
 */
public final class Lifetime {

    /**
     * Destroys the native object. Runs once, when no call uses the object any more. It must not
     * refer to the {@link NativeObject}.
     */
    @FunctionalInterface
    public interface Destructor {
        /**
         * Destroys the native object.
         *
         * @throws FabricException if the system fails to destroy it
         */
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
     * The open lifetimes that have no owner. This keeps all their dependents reachable, so that the
     * memory of a leaked device is not freed.
     */
    private static final Set<Lifetime> OPEN_ROOTS = ConcurrentHashMap.newKeySet();

    private final String name;
    private final Destructor destructor;
    private final List<Lifetime> owners;
    private final LinkedHashSet<Lifetime> dependents = new LinkedHashSet<>();
    private final List<Runnable> wakeups = new CopyOnWriteArrayList<>();
    private volatile boolean destroyed;
    private @Nullable volatile Thread closer;
    private @Nullable volatile Throwable creation;

    /** The number of holds, combined with the {@link #CLOSED} bit. */
    private volatile int state;

    /**
     * Starts a lifetime. Each owner closes it before itself. The caller must hold the owners.
     *
     * @param name the name of the object for messages
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
        LOG.debug("Created {}", name);
    }

    /**
     * Adds an owner, which from now on closes this lifetime before itself. The caller must hold
     * both. This lifetime must not be an owner of {@code owner}.
     */
    public void addOwner(Lifetime owner) {
        synchronized (owner.dependents) {
            if (owner.dependents.add(this)) {
                owners.add(owner);
            }
        }
    }

    /**
     * Returns true if close() has begun. The result is reliable only for a thread that is inside
     * its {@code CallGuard} or holds this lifetime.
     */
    public boolean isClosed() {
        return (int) STATE.getOpaque(this) < 0;
    }

    /**
     * Prevents the object from being destroyed until {@link #release()}, for which close() waits.
     * Does not block. Suitable for calls of any duration, but not around waits, and not around a
     * close.
     *
     * @throws IllegalStateException if the object is closed
     */
    public void hold() {
        if (state < 0) {
            throw closedException(); // without changing the count that close() watches
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
     * Holds all of the lifetimes, or none if one is closed.
     *
     * @throws IllegalStateException if one of the objects is closed
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

    /** Returns the exception for a use of the object after its close. */
    public IllegalStateException closedException() {
        return new IllegalStateException(name + " is closed");
    }

    /**
     * Registers a callback that runs when close() begins, to end waits that would otherwise block
     * close(). It runs at once if close() has begun.
     */
    public void onClose(Runnable wakeup) {
        wakeups.add(wakeup);
        if (isClosed()) {
            wakeup.run();
        }
    }

    /** Unregisters a callback of {@link #onClose}. */
    public void removeOnClose(Runnable wakeup) {
        wakeups.remove(wakeup);
    }

    /**
     * Closes the dependents, newest first, then waits for calls in flight, then destroys the
     * object. If another thread is closing the object, waits for that thread. Errors of the system
     * are logged, not thrown.
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
            BlockingCalls.call(this::destroy);
            LOG.debug("Closed {}", name);
        } catch (FabricException e) {
            LOG.warn("Cannot close {}: {}", name, e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("Closing {} failed. Its owners are closed nevertheless.", name, e);
        } finally {
            owners.forEach(owner -> owner.remove(this));
            OPEN_ROOTS.remove(this);
            destroyed = true;
        }
    }

    /** The open lifetimes that must be closed before this one, oldest first. */
    public List<Lifetime> dependents() {
        synchronized (dependents) {
            return List.copyOf(dependents);
        }
    }

    /** The stack trace of the object's creation; present only with {@code -Djrdma.leaks=trace}. */
    public Optional<Throwable> creation() {
        return Optional.ofNullable(creation);
    }

    void recordCreation(Throwable here) {
        creation = here;
    }

    /** The name of the object. */
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
            LOG.error("A close callback of {} failed. The object is closed nevertheless.", name, e);
        }
    }

    private void awaitOtherCloser() {
        if (closer == Thread.currentThread()) {
            return; // the object was closed again from within its own close(), as by a callback
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
