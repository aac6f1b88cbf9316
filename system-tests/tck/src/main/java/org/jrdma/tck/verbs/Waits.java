package org.jrdma.tck.verbs;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** Calls on threads of their own, most of which wait. */
final class Waits {

    private Waits() {}

    /** Starts a thread, and tells what its call returned or threw. */
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
     * Starts a thread, and returns when it has most likely begun to wait for what does not come.
     *
     * @param failure told what the wait threw, or what it returned
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
