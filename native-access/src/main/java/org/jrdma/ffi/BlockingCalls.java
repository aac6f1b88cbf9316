package org.jrdma.ffi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Runs blocking native calls on platform threads: registering gigabytes of memory, resolving a
 * peer's address, destroying an object that the kernel must wait for. A platform thread makes the
 * call itself. A virtual thread passes the call to a platform thread and parks, which releases its
 * carrier.
 */
public final class BlockingCalls {

    /** A call that may throw one type of checked exception. */
    @FunctionalInterface
    public interface Call<T, E extends Exception> {
        T call() throws E;
    }

    private static final ExecutorService THREADS =
            Executors.newCachedThreadPool(
                    Thread.ofPlatform().daemon().name("jrdma-call-", 0).factory());

    private BlockingCalls() {}

    /**
     * Makes a call and returns its result or throws its exception. An interrupt does not end the
     * call.
     */
    public static <T, E extends Exception> T call(Call<T, E> call) throws E {
        if (!Thread.currentThread().isVirtual()) {
            return call.call();
        }
        var outcome = new CompletableFuture<Outcome<T>>();
        THREADS.execute(() -> outcome.complete(Outcome.of(call)));
        return outcome.join().<E>get();
    }

    /**
     * Runs a task on a platform thread without waiting for it. The task makes progress even if
     * virtual threads occupy all carriers.
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

        @SuppressWarnings("unchecked") // a call throws E or an unchecked exception
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
