package org.jrdma.verbs.cm;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Waits on virtual threads, as futures. */
final class Cancellable {

    private Cancellable() {}

    /**
     * Begins to wait. Whoever cancels the future, or completes it, ends the wait at once: it is
     * interrupted.
     *
     * @param closing what to do with a result that came too late
     */
    static <T> CompletableFuture<T> start(String name, Callable<T> wait, Consumer<T> closing) {
        var future = new CompletableFuture<T>();
        var thread =
                Thread.ofVirtual()
                        .name(name)
                        .unstarted(() -> {
                            try {
                                var result = wait.call();
                                if (!future.complete(result)) {
                                    closing.accept(result);
                                }
                            } catch (Throwable e) {
                                future.completeExceptionally(e);
                            }
                        });
        var _ =
                future.whenComplete((_, _) -> {
                    if (Thread.currentThread() != thread) {
                        thread.interrupt();
                    }
                });
        thread.start();
        return future;
    }
}
