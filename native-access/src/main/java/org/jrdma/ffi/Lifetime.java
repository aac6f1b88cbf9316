package org.jrdma.ffi;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jrdma.ffi.guard.CallGuard;
import org.jrdma.ffi.guard.ShortWait;
import org.jrdma.ffi.guard.StackSpace;
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
    private static final VarHandle CLOSER;

    static {
        try {
            var lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(Lifetime.class, "state", int.class);
            CLOSER = lookup.findVarHandle(Lifetime.class, "closer", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * The open lifetimes that have no owner. This keeps all their dependents reachable, so that the
     * memory of a leaked device is not freed.
     */
    private static final Set<Lifetime> OPEN_ROOTS = ConcurrentHashMap.newKeySet();

    /** Bound while the current thread runs a callback of {@link #onClose}. */
    private static final ScopedValue<Lifetime> IN_CALLBACK = ScopedValue.newInstance();

    private final String name;
    private final Destructor destructor;
    private final List<Lifetime> owners;
    private final LinkedHashSet<Lifetime> dependents = new LinkedHashSet<>();
    private final Queue<Runnable> callbacks = new ConcurrentLinkedQueue<>();
    private @Nullable volatile Throwable creation;

    /** The thread that is closing the object. Null before close(), and after an incomplete one. */
    @SuppressWarnings("unused") // through CLOSER
    private @Nullable volatile Thread closer;

    /** True after the callbacks and the calls that held the object have ended. */
    private volatile boolean quiesced;

    /** Accessed by the closer only. The destructor runs once. */
    private boolean destructorStarted;

    private volatile boolean destroyed;

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
     * @throws StackOverflowError if not enough stack is left for {@link #release()}
     */
    public void hold() {
        if (state < 0) {
            throw closedException(); // without changing the count that close() watches
        }
        StackSpace.ensureForRelease();
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
     * Registers a callback that runs once when close() begins, to end waits that would otherwise
     * block close(). It runs at once if close() has begun. Anything that it throws is logged.
     */
    public void onClose(Runnable callback) {
        callbacks.add(callback);
        if (isClosed() && callbacks.remove(callback)) {
            callback.run();
        }
    }

    /** Unregisters a callback of {@link #onClose}. */
    public void removeOnClose(Runnable callback) {
        callbacks.remove(callback);
    }

    /**
     * Closes the dependents, newest first, then waits for calls in flight, then destroys the
     * object. If another thread is closing the object, waits for that thread. Errors of the system
     * are logged, not thrown.
     *
     * <p>A callback of {@link #onClose} may close any object. It never waits for a close that has
     * already begun, whether on its own thread or on another one, because that close may be waiting
     * for the callback. An owner that a callback closes is destroyed by the thread that destroys
     * the last of its dependents.
     *
     * <p>If an {@link Error} such as {@link OutOfMemoryError} ends the method early, the object
     * rejects uses, and the next close() of it or of an owner completes the close.
     *
     * @throws StackOverflowError if not enough stack is left; nothing has changed then
     */
    public void close() {
        StackSpace.ensure(); // for the dependents, too
        closeWithEnoughStack();
    }

    private void closeWithEnoughStack() {
        STATE.getAndBitwiseOr(this, CLOSED);
        var waits = !IN_CALLBACK.isBound();
        while (!destroyed) {
            if (CLOSER.compareAndSet(this, null, Thread.currentThread())) {
                closeAsCloser();
                return;
            }
            if (!waits || closer == Thread.currentThread()) {
                return;
            }
            ShortWait.until(() -> destroyed || closer == null);
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

    /** Called by the thread that is the closer. */
    private void closeAsCloser() {
        try {
            runCallbacks();
            ShortWait.until(() -> (int) STATE.getAcquire(this) == CLOSED);
            quiesced = true;
            dependents().reversed().forEach(Lifetime::closeWithEnoughStack);
        } catch (Throwable e) {
            closer = null;
            throw e;
        }
        destroyAfterDependents();
    }

    private void runCallbacks() {
        for (var callback = callbacks.poll(); callback != null; callback = callbacks.poll()) {
            try {
                ScopedValue.where(IN_CALLBACK, this).run(callback);
            } catch (Throwable e) {
                LOG.error(
                        "A close callback of {} failed. The object is closed nevertheless.",
                        name,
                        e);
            }
        }
    }

    /**
     * Destroys the object if no dependents are left. Otherwise, other closes on the stack of this
     * thread, or on other threads, are closing them, and the last of these destroys the object.
     * Called by the thread that is the closer.
     */
    private void destroyAfterDependents() {
        do {
            if (!hasDependents()) {
                try {
                    destroy();
                } finally {
                    if (!destroyed) {
                        closer = null;
                    }
                }
                return;
            }
            closer = null;
            // a dependent that was destroyed before this line did not find the object unclaimed
        } while (!hasDependents() && CLOSER.compareAndSet(this, null, Thread.currentThread()));
    }

    /**
     * Destroys the object, which has no dependents. The destructor is not repeated after an Error,
     * because it may have destroyed the object.
     */
    private void destroy() {
        try {
            CallGuard.awaitCallsInFlight();
            if (!destructorStarted) {
                BlockingCalls.call(this::runDestructor);
                LOG.debug("Closed {}", name);
            }
        } catch (FabricException e) {
            LOG.warn("Cannot close {}: {}", name, e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("Closing {} failed. Its owners are closed nevertheless.", name, e);
        } finally {
            if (destructorStarted) {
                leaveOwners();
            }
        }
    }

    private Lifetime runDestructor() throws FabricException {
        destructorStarted = true;
        destructor.destroy();
        return this;
    }

    private void leaveOwners() {
        OPEN_ROOTS.remove(this);
        owners.forEach(owner -> owner.remove(this));
        destroyed = true;
        owners.forEach(Lifetime::completeClose);
    }

    /** Destroys the object if only its dependents delayed that, and none is left. */
    private void completeClose() {
        if (quiesced
                && !hasDependents()
                && !destroyed
                && CLOSER.compareAndSet(this, null, Thread.currentThread())) {
            destroyAfterDependents();
        }
    }

    private boolean hasDependents() {
        synchronized (dependents) {
            return !dependents.isEmpty();
        }
    }

    private void remove(Lifetime dependent) {
        synchronized (dependents) {
            dependents.remove(dependent);
        }
    }
}
