package org.jrdma.verbs.handle;

import java.util.List;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.model.VerbsException;

/**
 * Guarded native calls: the given objects cannot be destroyed during the call, which runs on a
 * platform thread.
 */
public final class GuardedCalls {

    @FunctionalInterface
    public interface Call<T> {
        T run() throws VerbsException;
    }

    @FunctionalInterface
    public interface Action {
        void run() throws VerbsException;
    }

    private GuardedCalls() {}

    /**
     * Makes a call guarded by one lifetime.
     *
     * @throws IllegalStateException if the object is closed
     */
    public static <T> T call(Lifetime lifetime, Call<T> call) throws VerbsException {
        return call(List.of(lifetime), call);
    }

    /**
     * Makes a call guarded by several lifetimes.
     *
     * @throws IllegalStateException if one of the objects is closed
     */
    public static <T> T call(List<Lifetime> lifetimes, Call<T> call) throws VerbsException {
        Lifetime.holdAll(lifetimes);
        try {
            return BlockingCalls.call(call::run);
        } finally {
            lifetimes.forEach(Lifetime::release);
        }
    }

    /**
     * Makes a call without a result, guarded by one lifetime.
     *
     * @throws IllegalStateException if the object is closed
     */
    public static void run(Lifetime lifetime, Action action) throws VerbsException {
        call(
                lifetime,
                () -> {
                    action.run();
                    return lifetime;
                });
    }
}
