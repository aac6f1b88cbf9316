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
import org.jrdma.ffi.guard.CloseWaitPermission;
import org.jrdma.ffi.guard.ShortWait;
import org.jrdma.ffi.guard.StackSpace;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lifetime of a native object. It records whether the object is closed, how many calls hold it,
 * and which objects must be closed before it.
 *
 * <p>A lifetime must not refer to its {@link NativeObject}, because owners refer to the lifetimes
 * of their dependents. Otherwise, an object that the program lost without closing it would stay
 * reachable through its owner, and {@link Leaks} could not detect it. Safe for use by multiple
 * threads.
 */
public final class Lifetime {

    /**
     * Destroys the native object. A destructor runs once, after all calls that use the object have
     * returned. It must not refer to the {@link NativeObject}, because the object would then never
     * become unreachable.
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

    /**
     * One or more holds, which prevent the destruction of objects until they are released. For a
     * try-with-resources statement.
     */
    @FunctionalInterface
    public interface Holds extends AutoCloseable {
        /** Releases the holds. */
        @Override
        void close();
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
     * The open lifetimes that have no owner. This set keeps them and all their dependents
     * reachable. Otherwise, the garbage collector could free the memory of a device that the
     * program lost without closing it, while the adapter still uses this memory.
     */
    private static final Set<Lifetime> OPEN_ROOTS = ConcurrentHashMap.newKeySet();

    private final String name;
    private final Holds ownHold = this::release;
    private final Destructor destructor;
    private final List<Lifetime> owners;
    private final LinkedHashSet<Lifetime> dependents = new LinkedHashSet<>();
    private final Queue<Runnable> callbacks = new ConcurrentLinkedQueue<>();
    private @Nullable volatile Throwable creation;

    /**
     * The thread that is closing the object. Null before close(), and after a close() that was
     * ended by an Error.
     */
    @SuppressWarnings("unused") // Accessed through CLOSER.
    private @Nullable volatile Thread closer;

    /** True when all callbacks of the close have returned and all holds are released. */
    private volatile boolean quiesced;

    /** Accessed only by the thread in {@code closer}. The destructor runs once. */
    private boolean destructorStarted;

    private volatile boolean destroyed;

    /**
     * The number of holds that have not been released, and the bit {@link #CLOSED}, which is set
     * when close() begins.
     */
    private volatile int state;

    /**
     * Starts a lifetime. Closing an owner closes this lifetime first. The caller must {@linkplain
     * #hold() hold} all owners, so that none of them is closed during this call.
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
     * Adds an owner: closing {@code owner} closes this lifetime first. The caller must hold this
     * lifetime and {@code owner}. This lifetime must not be an owner of {@code owner}.
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
     * its {@code CallGuard} or holds this lifetime, because otherwise close() may begin right after
     * this call.
     */
    public boolean isClosed() {
        return (int) STATE.getOpaque(this) < 0;
    }

    /**
     * Prevents the object from being destroyed until {@link #release()}: close() waits for the
     * release. This method does not block.
     *
     * <p>A hold is suitable for calls of any duration. Do not wait for an event while holding,
     * because close() would block until the event. Do not close the object while holding it,
     * because close() would never return.
     *
     * @throws IllegalStateException if the object is closed
     * @throws StackOverflowError if not enough stack is left for {@link #release()}
     */
    public void hold() {
        if (state < 0) {
            // The stack is checked before the hold is counted, because close() waits for a count of
            // 0.
            throw closedException();
        }
        StackSpace.ensureForRelease();
        if ((int) STATE.getAndAdd(this, 1) < 0) {
            release();
            throw closedException();
        }
    }

    /** {@linkplain #hold() Holds} this lifetime until the result is closed. Does not allocate. */
    public Holds held() {
        hold();
        return ownHold;
    }

    /**
     * Ends one {@link #hold()}.
     *
     * @throws IllegalStateException if this lifetime is not held; the lifetime is unchanged
     */
    public void release() {
        int current;
        do {
            current = state;
            if ((current & ~CLOSED) == 0) {
                throw new IllegalStateException(name + " was released more often than held");
            }
        } while (!STATE.compareAndSet(this, current, current - 1));
    }

    /**
     * Holds all given lifetimes until the result is closed, or none of them if one is closed.
     *
     * @throws IllegalStateException if one of the objects is closed
     */
    public static Holds holdAll(List<Lifetime> lifetimes) {
        // Before the first hold, because it must not fail between the holds.
        Holds holds = () -> lifetimes.forEach(Lifetime::release);
        var held = 0;
        try {
            for (; held < lifetimes.size(); held++) {
                lifetimes.get(held).hold();
            }
        } catch (Throwable e) {
            lifetimes.subList(0, held).forEach(Lifetime::release);
            throw e;
        }
        return holds;
    }

    /** Returns the exception for a use of the object after its close. */
    public IllegalStateException closedException() {
        return new IllegalStateException(name + " is closed");
    }

    /**
     * Registers a callback that runs once on the closing thread when close() begins, to end waits
     * that would otherwise block close(). If close() has already begun, the callback runs
     * immediately on the calling thread. Anything that a callback throws is logged.
     */
    public void onClose(Runnable callback) {
        callbacks.add(callback);
        if (state < 0 && callbacks.remove(callback)) {
            run(callback);
        }
    }

    /** Unregisters a callback that was registered by {@link #onClose}. */
    public void removeOnClose(Runnable callback) {
        callbacks.remove(callback);
    }

    /**
     * Closes the object in these steps: runs the callbacks of {@link #onClose}, waits until all
     * holds are released, closes the dependents, newest first, waits for the guarded calls in
     * progress, and destroys the native object. Errors of the system are logged, not thrown. If
     * another thread is closing the object, this method waits until that thread has finished.
     *
     * <p>A callback of {@link #onClose} may close any object. A close() within a callback or a
     * destructor never waits for a close that has already begun, on this or on another thread,
     * because that close may be waiting for the callback. If dependents of the object are still
     * being closed then, the thread that destroys the last of them destroys the object.
     *
     * <p>If an {@link Error} such as {@link OutOfMemoryError} ends this method early, the object
     * rejects uses, and the next close() of the object or of an owner completes the close.
     *
     * @throws StackOverflowError if not enough stack is left; the object is unchanged
     */
    public void close() {
        // The check is also for the dependents, which are closed on the same stack.
        StackSpace.ensure();
        closeWithEnoughStack();
    }

    private void closeWithEnoughStack() {
        STATE.getAndBitwiseOr(this, CLOSED);
        while (!destroyed) {
            if (CLOSER.compareAndSet(this, null, Thread.currentThread())) {
                closeAsCloser();
                return;
            }
            if (!CloseWaitPermission.isGranted()) {
                return;
            }
            ShortWait.until(() -> destroyed || closer == null);
        }
    }

    /**
     * Returns the open lifetimes that this lifetime owns and closes before itself, oldest first.
     */
    public List<Lifetime> dependents() {
        synchronized (dependents) {
            return List.copyOf(dependents);
        }
    }

    /**
     * Returns the stack trace of the object's creation; present only with {@code
     * -Djrdma.leaks=trace}.
     */
    public Optional<Throwable> creation() {
        return Optional.ofNullable(creation);
    }

    void recordCreation(Throwable here) {
        creation = here;
    }

    /** Returns the name of the object. */
    @Override
    public String toString() {
        return name;
    }

    /** Closes the object. Called by the thread that {@code closer} refers to. */
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
            run(callback);
        }
    }

    private void run(Runnable callback) {
        try {
            CloseWaitPermission.forbidDuring(callback);
        } catch (Throwable e) {
            LOG.error("A close callback of {} failed. The close continues.", name, e);
        }
    }

    /**
     * Destroys the object if no dependents are left. Otherwise, they are being closed by other
     * threads, or by callers of this method on the same thread; the close of the last one then
     * destroys the object. Called by the thread that {@code closer} refers to.
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
            // If a dependent was destroyed before this line, its thread found this object claimed
            // by a closer and left the destruction to it.
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
                BlockingCalls.call(() -> CloseWaitPermission.callForbidding(this::runDestructor));
                LOG.debug("Closed {}", name);
            }
        } catch (FabricException e) {
            LOG.warn("Cannot close {}: {}", name, e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("Cannot close {}. Its owners can still be closed.", name, e);
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

    /**
     * Destroys the object if its close was delayed only by dependents, and the last of them is now
     * destroyed.
     */
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
