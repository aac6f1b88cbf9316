package org.jrdma.verbs.handle;

import java.util.List;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.model.VerbsException;

/**
 * Makes native calls during which the given objects cannot be destroyed. The calls run on a
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
     * Makes a native call during which one object cannot be destroyed.
     *
     * @throws IllegalStateException if the object is closed
     */
    public static <T> T call(Lifetime lifetime, Call<T> call) throws VerbsException {
        return call(List.of(lifetime), call);
    }

    /**
     * Makes a native call during which several objects cannot be destroyed.
     *
     * @throws IllegalStateException if one of the objects is closed
     */
    public static <T> T call(List<Lifetime> lifetimes, Call<T> call) throws VerbsException {
        try (var _ = Lifetime.holdAll(lifetimes)) {
            return BlockingCalls.call(call::run);
        }
    }

    /**
     * Makes a native call without a result, during which one object cannot be destroyed.
     *
     * @throws IllegalStateException if the object is closed
     */
    public static void run(Lifetime lifetime, Action action) throws VerbsException {
        run(List.of(lifetime), action);
    }

    /**
     * Makes a native call without a result, during which several objects cannot be destroyed.
     *
     * @throws IllegalStateException if one of the objects is closed
     */
    public static void run(List<Lifetime> lifetimes, Action action) throws VerbsException {
        call(
                lifetimes,
                () -> {
                    action.run();
                    return lifetimes;
                });
    }
}
