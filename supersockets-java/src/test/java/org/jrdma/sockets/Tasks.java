package org.jrdma.sockets;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Threads of tests, of either kind. */
public final class Tasks {

    private static final Set<String> WAITING_CALLS = Set.of("poll", "epollWait");

    private Tasks() {}

    /** The kinds of thread that a channel is used by. */
    enum Kind {
        PLATFORM,
        VIRTUAL
    }

    /** A thread, and what becomes of its task. */
    public record Task<T>(Thread thread, CompletableFuture<T> result) {

        public T get() throws Exception {
            return result.get(10, TimeUnit.SECONDS);
        }

        /** What it threw. */
        Throwable failure() throws Exception {
            return result.handle((_, thrown) -> thrown).get(10, TimeUnit.SECONDS);
        }

        /** Returns when the thread waits: parked, or for a while in a call to the kernel. */
        public Task<T> awaitWaiting() throws InterruptedException {
            for (var seen = 0; seen < 3; seen = waits() ? seen + 1 : 0) {
                if (result.isDone()) {
                    throw new AssertionError("it did not wait: " + result);
                }
                Thread.sleep(10);
            }
            return this;
        }

        private boolean waits() {
            return switch (thread.getState()) {
                case WAITING, TIMED_WAITING -> true;
                case RUNNABLE -> isInKernel(thread.getStackTrace());
                default -> false;
            };
        }

        /** A call of the JDK's is on top, or one of ours that waits is somewhere. */
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
