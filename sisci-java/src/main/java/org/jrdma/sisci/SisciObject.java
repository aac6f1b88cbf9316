package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.guard.CallGuard;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.SisciFunctionGroups;

/**
 * An object of libsisci that must be closed.
 *
 * <p>The library does not remove an object that is in use, for example by a peer. {@link #close()}
 * therefore closes the dependent objects first, and then retries for up to five seconds while the
 * library reports that the object is busy; {@link #close(Duration)} takes another timeout. If the
 * object is still in use when the timeout expires, a warning is logged, and the removal is retried
 * when the {@link Node} is closed. At that time, a segment that is still in use is removed by
 * force.
 */
public abstract class SisciObject extends NativeObject {

    private final ObjectHandle handle;

    /**
     * Creates an object of this module.
     *
     * @hidden
     */
    @SuppressWarnings({
        "exports", // Other modules cannot create a handle.
        "InvalidBlockTag" // Error Prone does not know that constructors can be hidden
    })
    protected SisciObject(ObjectHandle handle) {
        super(handle.address(), handle.lifetime());
        this.handle = handle;
    }

    /**
     * Closes this object like {@link #close()}, but retries for at most {@code busyTimeout} while
     * the library reports that the object is busy. The timeout does not apply to the dependent
     * objects, which have their own timeouts.
     */
    public final void close(Duration busyTimeout) {
        handle.retry().timeout(Objects.requireNonNull(busyTimeout));
        close();
    }

    /** A library call with a result, for {@link #inCall}. */
    @FunctionalInterface
    interface Call<T, E extends Exception> {
        T run() throws E;
    }

    /** A library call without a result, for {@link #whileOpen}. */
    @FunctionalInterface
    interface VoidCall<E extends Exception> {
        void run() throws E;
    }

    /**
     * Runs a library call while holding the lifetime of this object, so that the object is not
     * destroyed during the call.
     *
     * @throws IllegalStateException if this object is closed
     */
    final <T, E extends Exception> T inCall(Call<T, E> call) throws E {
        return inCall(lifetime(), call);
    }

    /**
     * Runs a library call while holding a lifetime, so that its object is not destroyed during the
     * call.
     *
     * @throws IllegalStateException if the object is closed
     */
    static <T, E extends Exception> T inCall(Lifetime lifetime, Call<T, E> call) throws E {
        try (var _ = lifetime.held()) {
            return call.run();
        }
    }

    /**
     * Runs a library call while holding the lifetime of this object, so that the object is not
     * destroyed during the call.
     *
     * @throws IllegalStateException if this object is closed
     */
    final <E extends Exception> void whileOpen(VoidCall<E> call) throws E {
        whileOpen(lifetime(), call);
    }

    /**
     * Runs a library call while holding a lifetime, so that its object is not destroyed during the
     * call.
     *
     * @throws IllegalStateException if the object is closed
     */
    static <E extends Exception> void whileOpen(Lifetime lifetime, VoidCall<E> call) throws E {
        try (var _ = lifetime.held()) {
            call.run();
        }
    }

    /**
     * Enters the call guard of the current thread. The caller must exit the guard.
     *
     * @throws IllegalStateException if this object is closed; the caller must then not exit the
     *     guard
     */
    final CallGuard enterGuard() {
        var guard = CallGuard.ofCurrentThread();
        guard.enter();
        if (handle.lifetime().isClosed()) {
            guard.exit();
            throw handle.lifetime().closedException();
        }
        return guard;
    }

    /**
     * Parks the thread before it repeats an attempt.
     *
     * @param awaited the object that the thread waits for, for diagnostics
     */
    static void pause(long nanos, Object awaited) throws InterruptedIOException {
        LockSupport.parkNanos(nanos);
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("Interrupted while waiting for " + awaited);
        }
    }

    /** Checks that this object and another object belong to the same library. */
    final void checkLibrary(SisciFunctionGroups others, Object other) {
        functions().library().checkSame(others.library(), this, other);
    }

    final ObjectHandle handle() {
        return handle;
    }

    final NodeHandle node() {
        return handle.node();
    }

    final SisciFunctionGroups functions() {
        return handle.node().functions();
    }

    final Lifetime ownLifetime() {
        return lifetime();
    }
}
