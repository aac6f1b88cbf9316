package org.jrdma.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Starts threads whose progress a test observes. */
public final class TestThreads {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private TestThreads() {}

    /** A started thread and its task. */
    public record Started<T>(Thread thread, FutureTask<T> task) {

        /** Waits for the task and returns its result or throws its exception. */
        public T result() throws Exception {
            return task.get(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
        }

        /** Waits until the thread is waiting. */
        public Started<T> awaitWaiting() {
            var end = System.nanoTime() + TIMEOUT.toNanos();
            while (!List.of(Thread.State.WAITING, Thread.State.TIMED_WAITING)
                    .contains(thread.getState())) {
                assertThat(thread.isAlive()).as("alive").isTrue();
                assertThat(System.nanoTime() - end).as("waiting in time").isNegative();
                Thread.onSpinWait();
            }
            return this;
        }
    }

    public static <T> Started<T> start(Callable<T> callable) {
        var task = new FutureTask<>(callable);
        return new Started<>(Thread.ofPlatform().daemon().start(task), task);
    }

    /** A task without a result. */
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
