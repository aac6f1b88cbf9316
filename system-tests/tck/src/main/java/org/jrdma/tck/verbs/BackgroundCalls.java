package org.jrdma.tck.verbs;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** Calls on other threads, most of which wait. */
final class BackgroundCalls {

    private BackgroundCalls() {}

    /** Starts a thread, and returns a future with the result or exception of its call. */
    static <T> CompletableFuture<T> call(Thread.Builder builder, Callable<T> call) {
        var outcome = new CompletableFuture<T>();
        builder.start(() -> {
            try {
                outcome.complete(call.call());
            } catch (Throwable e) {
                outcome.completeExceptionally(e);
            }
        });
        return outcome;
    }

    /**
     * Starts a thread, and returns after it has most likely begun to wait.
     *
     * @param failure receives the exception of the wait, or its result
     */
    static Thread start(
            Thread.Builder builder, Callable<?> wait, CompletableFuture<Throwable> failure)
            throws InterruptedException {
        var entered = new CountDownLatch(1);
        var thread =
                builder.start(() -> {
                    entered.countDown();
                    try {
                        failure.complete(new AssertionError("" + wait.call()));
                    } catch (Exception e) {
                        failure.complete(e);
                    }
                });
        entered.await();
        Thread.sleep(20);
        return thread;
    }
}
