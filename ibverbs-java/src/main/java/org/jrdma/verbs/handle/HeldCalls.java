package org.jrdma.verbs.handle;

import java.util.List;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.model.VerbsException;

/**
 * Native calls during which objects must stay open: the objects are held, and the call is made on a
 * platform thread.
 */
public final class HeldCalls {

    /** A native call with a result. */
    @FunctionalInterface
    public interface Call<T> {
        /** Makes the call. */
        T run() throws VerbsException;
    }

    /** A native call without a result. */
    @FunctionalInterface
    public interface Action {
        /** Makes the call. */
        void run() throws VerbsException;
    }

    private HeldCalls() {}

    /**
     * Makes a call while one object is held.
     *
     * @throws IllegalStateException if the object is closed
     */
    public static <T> T call(Lifetime lifetime, Call<T> call) throws VerbsException {
        lifetime.hold();
        try {
            return PlatformCalls.call(call::run);
        } finally {
            lifetime.release();
        }
    }

    /**
     * Makes a call while several objects are held.
     *
     * @throws IllegalStateException if one of the objects is closed
     */
    public static <T> T call(List<Lifetime> lifetimes, Call<T> call) throws VerbsException {
        Lifetime.holdAll(lifetimes);
        try {
            return PlatformCalls.call(call::run);
        } finally {
            lifetimes.forEach(Lifetime::release);
        }
    }

    /** Makes a call without a result while one object is held. */
    public static void run(Lifetime lifetime, Action action) throws VerbsException {
        call(
                lifetime,
                () -> {
                    action.run();
                    return lifetime;
                });
    }
}
