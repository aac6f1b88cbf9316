package org.jrdma.sockets;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs the tasks of tests on platform threads or on virtual threads. */
public final class Tasks {

    private static final Set<String> WAITING_CALLS = Set.of("poll", "epollWait", "receiveBlocking");

    private Tasks() {}

    /** The kinds of threads that use a channel. */
    enum Kind {
        PLATFORM,
        VIRTUAL
    }

    /** A thread and the result of its task. */
    public record Task<T>(Thread thread, CompletableFuture<T> result) {

        public T get() throws Exception {
            return result.get(10, TimeUnit.SECONDS);
        }

        /** Returns the exception that the task has thrown. */
        Throwable failure() throws Exception {
            return result.handle((_, thrown) -> thrown).get(10, TimeUnit.SECONDS);
        }

        /** Waits until the thread is parked, or blocked in a system call. */
        public Task<T> awaitWaiting() throws InterruptedException {
            for (var seen = 0; seen < 3; seen = isWaiting() ? seen + 1 : 0) {
                if (result.isDone()) {
                    throw new AssertionError("The thread did not wait: " + result);
                }
                Thread.sleep(10);
            }
            return this;
        }

        private boolean isWaiting() {
            return switch (thread.getState()) {
                case WAITING, TIMED_WAITING -> true;
                case RUNNABLE -> isInKernel(thread.getStackTrace());
                default -> false;
            };
        }

        /**
         * Returns true if the top frame is a native method, or any frame is one of the
         * WAITING_CALLS.
         */
        private static boolean isInKernel(StackTraceElement[] stack) {
            return stack.length > 0
                    && (stack[0].isNativeMethod()
                            || Arrays.stream(stack)
                                    .anyMatch(frame ->
                                            WAITING_CALLS.contains(frame.getMethodName())));
        }
    }

    public static <T> Task<T> start(Kind kind, Callable<T> task) {
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

    public static <T> Task<T> start(Callable<T> task) {
        return start(Kind.PLATFORM, task);
    }
}
