package org.jrdma.tck.verbs;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** Runs calls of the API, most of which block, on new threads. */
final class BackgroundCalls {

    private BackgroundCalls() {}

    /**
     * Starts a thread that makes a call of the API. Returns a future that completes with the result
     * or the exception of the call.
     */
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
     * Starts a thread that runs a blocking call, and returns about 20 ms later, when the call has
     * most likely begun to wait.
     *
     * @param wait the blocking call
     * @param failure completes with the exception of the call, or with an AssertionError if the
     *     call returns
     */
    static Thread start(
            Thread.Builder builder, Callable<?> wait, CompletableFuture<Throwable> failure)
            throws InterruptedException {
        var entered = new CountDownLatch(1);
        var thread =
                builder.start(() -> {
                    entered.countDown();
                    try {
                        failure.complete(new AssertionError("the call returned " + wait.call()));
                    } catch (Exception e) {
                        failure.complete(e);
                    }
                });
        entered.await();
        Thread.sleep(20);
        return thread;
    }
}
