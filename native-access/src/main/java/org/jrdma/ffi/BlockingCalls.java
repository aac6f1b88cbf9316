package org.jrdma.ffi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Runs native calls that may block for a long time on platform threads. Examples are the
 * registration of gigabytes of memory, the resolution of a remote address, and the destruction of
 * an object for which the kernel must wait.
 *
 * <p>A platform thread makes its native call itself. For a virtual thread, a pooled platform thread
 * makes the native call. Meanwhile, the virtual thread is parked, so that its carrier can run other
 * virtual threads.
 */
public final class BlockingCalls {

    /** A native call that may block, and may throw one type of checked exception. */
    @FunctionalInterface
    public interface Call<T, E extends Exception> {
        /** Makes the native call and returns its result. */
        T call() throws E;
    }

    private static final ExecutorService THREADS =
            Executors.newCachedThreadPool(
                    Thread.ofPlatform().daemon().name("jrdma-call-", 0).factory());

    private BlockingCalls() {}

    /**
     * Makes a native call that may block, and returns its result or throws its exception. An
     * interrupt of the calling thread ends neither the native call nor the wait for it.
     */
    public static <T, E extends Exception> T call(Call<T, E> call) throws E {
        if (!Thread.currentThread().isVirtual()) {
            return call.call();
        }
        var pending = new PendingCall<T, E>(call);
        THREADS.execute(pending);
        return pending.await();
    }

    /**
     * Runs a task on a platform thread without waiting for it. Therefore, the task makes progress
     * even if all carrier threads are occupied by virtual threads.
     */
    public static void start(Runnable task) {
        THREADS.execute(task);
    }

    /**
     * A native call that a platform thread makes for a waiting virtual thread. {@link #run()}
     * itself allocates no memory, so that the waiting thread receives the outcome in any case.
     */
    private static final class PendingCall<T, E extends Exception> implements Runnable {

        private final Call<T, E> call;
        private final CompletableFuture<Void> end = new CompletableFuture<>();
        private @Nullable T value;
        private @Nullable Throwable thrown;

        PendingCall(Call<T, E> call) {
            this.call = call;
        }

        @Override
        public void run() {
            try {
                value = call.call();
            } catch (Throwable e) {
                thrown = e;
            } finally {
                end.complete(null);
            }
        }

        // The cast is safe: a call throws E or an unchecked exception.
        @SuppressWarnings("unchecked")
        T await() throws E {
            end.join();
            return switch (thrown) {
                case null -> value;
                case Error error -> throw error;
                case RuntimeException exception -> throw exception;
                default -> throw (E) thrown;
            };
        }
    }
}
