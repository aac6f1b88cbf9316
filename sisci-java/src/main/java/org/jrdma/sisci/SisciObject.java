package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.sisci.internal.NodeHandle;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.internal.SisciFunctions;

/**
 * An object of libsisci that must be closed.
 *
 * <p>The library does not remove an object that is in use, also if a peer uses it. {@link #close()}
 * therefore closes the objects that depend on this one first, and then tries for up to five
 * seconds; {@link #close(Duration)} says for how long. An object that is still in use then is
 * logged, and removed when the {@link Node} is closed: by force if SISCI can, which is the case for
 * segments.
 */
public abstract class SisciObject extends NativeObject {

    private final ObjectHandle handle;

    SisciObject(ObjectHandle handle) {
        super(handle.address(), handle.lifetime());
        this.handle = handle;
    }

    /**
     * Closes this object, and tries again until the timeout while the library reports that it is in
     * use. The objects that depend on it have timeouts of their own.
     */
    public final void close(Duration busyTimeout) {
        handle.retry().timeout(busyTimeout);
        close();
    }

    /** A call that returns a value. */
    @FunctionalInterface
    interface Call<T, E extends Exception> {
        T run() throws E;
    }

    /** A call without a result. */
    @FunctionalInterface
    interface VoidCall<E extends Exception> {
        void run() throws E;
    }

    /** Runs a call during which this object must stay open. */
    final <T, E extends Exception> T inCall(Call<T, E> call) throws E {
        return inCall(lifetime(), call);
    }

    /** Runs a call during which an object must stay open. */
    static <T, E extends Exception> T inCall(Lifetime lifetime, Call<T, E> call) throws E {
        lifetime.hold();
        try {
            return call.run();
        } finally {
            lifetime.release();
        }
    }

    /** Runs a call during which this object must stay open. */
    final <E extends Exception> void whileOpen(VoidCall<E> call) throws E {
        whileOpen(lifetime(), call);
    }

    /** Runs a call during which an object must stay open. */
    static <E extends Exception> void whileOpen(Lifetime lifetime, VoidCall<E> call) throws E {
        lifetime.hold();
        try {
            call.run();
        } finally {
            lifetime.release();
        }
    }

    /** Pauses between two attempts. */
    static void pause(long nanos, Object awaited) throws InterruptedIOException {
        LockSupport.parkNanos(nanos);
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("interrupted while waiting for " + awaited);
        }
    }

    /** Rejects this object if it is of another library, where its handle means nothing. */
    final void checkLibrary(SisciFunctions others, Object other) {
        if (functions().library().identity() != others.library().identity()) {
            throw new IllegalArgumentException(
                    "%s is of %s, and %s of %s"
                            .formatted(this, functions().library(), other, others.library()));
        }
    }

    final ObjectHandle handle() {
        return handle;
    }

    final NodeHandle node() {
        return handle.node();
    }

    final SisciFunctions functions() {
        return handle.node().functions();
    }

    final Lifetime ownLifetime() {
        return lifetime();
    }
}
