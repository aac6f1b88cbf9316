package org.jrdma.sockets;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Threads of tests, of either kind. */
final class Tasks {

    private Tasks() {}

    /** The kinds of thread that a channel is used by. */
    enum Kind {
        PLATFORM,
        VIRTUAL
    }

    /** A thread, and what becomes of its task. */
    record Task<T>(Thread thread, CompletableFuture<T> result) {

        T get() throws Exception {
            return result.get(10, TimeUnit.SECONDS);
        }

        /** What it threw. */
        Throwable failure() throws Exception {
            return result.handle((_, thrown) -> thrown).get(10, TimeUnit.SECONDS);
        }

        /** Returns when the thread waits, as far as one can see that from outside. */
        Task<T> awaitWaiting() throws InterruptedException {
            Thread.sleep(50);
            if (result.isDone()) {
                throw new AssertionError("it did not wait: " + result);
            }
            return this;
        }
    }

    static <T> Task<T> start(Kind kind, Callable<T> task) {
        var result = new CompletableFuture<T>();
        Runnable run =
                () -> {
                    try {
                        result.complete(task.call());
                    } catch (Throwable e) {
                        result.completeExceptionally(e);
                    }
                };
        var builder = kind == Kind.VIRTUAL ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        return new Task<>(builder.start(run), result);
    }

    static <T> Task<T> start(Callable<T> task) {
        return start(Kind.PLATFORM, task);
    }
}
