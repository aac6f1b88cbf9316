package org.jrdma.ffi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls that may take long away from virtual threads: registering gigabytes, resolving a
 * peer's address, destroying what the kernel must wait for. A platform thread calls on the spot; a
 * virtual one lends the call to a platform thread and parks, so that its carrier is free.
 */
public final class PlatformCalls {

    /** A call, with the one checked exception it may throw. */
    @FunctionalInterface
    public interface Call<T, E extends Exception> {
        /** Makes the call. */
        T call() throws E;
    }

    private static final ExecutorService THREADS =
            Executors.newCachedThreadPool(
                    Thread.ofPlatform().daemon().name("jrdma-call-", 0).factory());

    private PlatformCalls() {}

    /** Makes a call, and gives back what it returns or throws. An interrupt does not end it. */
    public static <T, E extends Exception> T call(Call<T, E> call) throws E {
        if (!Thread.currentThread().isVirtual()) {
            return call.call();
        }
        var outcome = new CompletableFuture<Outcome<T>>();
        THREADS.execute(() -> outcome.complete(Outcome.of(call)));
        return outcome.join().<E>get();
    }

    /**
     * Runs what nobody waits for on a platform thread: it goes on though virtual threads of the
     * program keep all carriers busy.
     */
    public static void start(Runnable task) {
        THREADS.execute(task);
    }

    private record Outcome<T>(@Nullable T value, @Nullable Throwable thrown) {

        static <T> Outcome<T> of(Call<T, ?> call) {
            try {
                return new Outcome<>(call.call(), null);
            } catch (Throwable e) {
                return new Outcome<>(null, e);
            }
        }

        @SuppressWarnings("unchecked") // a call throws what is unchecked, or E
        <E extends Exception> T get() throws E {
            return switch (thrown) {
                case null -> value;
                case Error error -> throw error;
                case RuntimeException exception -> throw exception;
                default -> throw (E) thrown;
            };
        }
    }
}
