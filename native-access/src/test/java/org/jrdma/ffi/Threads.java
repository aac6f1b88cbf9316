package org.jrdma.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Threads whose progress a test watches. */
public final class Threads {

    private static final Duration LONG = Duration.ofSeconds(30);

    private Threads() {}

    /** A thread, and what comes of it. */
    public record Started<T>(Thread thread, FutureTask<T> task) {

        /** Its result, or what it threw. */
        public T result() throws Exception {
            return task.get(LONG.toNanos(), TimeUnit.NANOSECONDS);
        }

        /** Returns when it waits for something, and has not ended. */
        public Started<T> awaitWaiting() {
            var end = System.nanoTime() + LONG.toNanos();
            while (!List.of(Thread.State.WAITING, Thread.State.TIMED_WAITING)
                    .contains(thread.getState())) {
                assertThat(thread.isAlive()).as("it waits").isTrue();
                assertThat(System.nanoTime() - end).as("it waits in time").isNegative();
                Thread.onSpinWait();
            }
            return this;
        }
    }

    public static <T> Started<T> start(Callable<T> callable) {
        var task = new FutureTask<>(callable);
        return new Started<>(Thread.ofPlatform().daemon().start(task), task);
    }

    /** What {@link #start} starts when it has no result. */
    @FunctionalInterface
    public interface Action {
        void run() throws Exception;
    }

    public static Started<Boolean> start(Action action) {
        return start(() -> {
            action.run();
            return true;
        });
    }
}
