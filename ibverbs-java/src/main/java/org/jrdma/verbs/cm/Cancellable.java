package org.jrdma.verbs.cm;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Waits on virtual threads, as futures. */
final class Cancellable {

    private Cancellable() {}

    /**
     * Begins to wait. Whoever cancels the future, or completes it, ends the wait at once, before
     * anybody is told: it is interrupted.
     *
     * @param closing what to do with a result that came too late
     */
    static <T> CompletableFuture<T> start(String name, Callable<T> wait, Consumer<T> closing) {
        var future = new Wait<>(name, wait, closing);
        // For those who complete it by none of the methods below.
        var _ = future.whenComplete((_, _) -> future.end());
        future.thread.start();
        return future;
    }

    private static final class Wait<T> extends CompletableFuture<T> {

        private final Callable<T> wait;
        private final Consumer<T> closing;
        private final Thread thread;

        /** Whether it is decided who completes this. */
        private final AtomicBoolean decided = new AtomicBoolean();

        Wait(String name, Callable<T> wait, Consumer<T> closing) {
            this.wait = wait;
            this.closing = closing;
            this.thread = Thread.ofVirtual().name(name).unstarted(this::run);
        }

        private void run() {
            if (decided.get()) {
                return;
            }
            try {
                var result = wait.call();
                if (!decided.compareAndSet(false, true) || !super.complete(result)) {
                    closing.accept(result);
                }
            } catch (Throwable e) {
                if (decided.compareAndSet(false, true)) {
                    super.completeExceptionally(e);
                }
            }
        }

        /** Unless the wait has ended by itself. Those who depend on this may wait for its end. */
        private void end() {
            if (decided.compareAndSet(false, true)) {
                thread.interrupt();
            }
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            end();
            return super.cancel(mayInterruptIfRunning);
        }

        @Override
        public boolean complete(T value) {
            end();
            return super.complete(value);
        }

        @Override
        public boolean completeExceptionally(Throwable e) {
            end();
            return super.completeExceptionally(e);
        }

        /** Those that depend on it are ordinary futures. */
        @Override
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return new CompletableFuture<>();
        }
    }
}
