package org.jrdma.verbs.cm;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Runs blocking calls on virtual threads, with cancellable futures for their results. */
final class Cancellable {

    private Cancellable() {}

    /**
     * Starts a call. Cancelling or completing the future interrupts the call, before the future's
     * dependents run.
     *
     * @param closing disposes of a result that arrives after the future was completed
     */
    static <T> CompletableFuture<T> start(String name, Callable<T> wait, Consumer<T> closing) {
        var future = new Wait<>(name, wait, closing);
        // Covers completion by methods that are not overridden below.
        var _ = future.whenComplete((_, _) -> future.end());
        future.thread.start();
        return future;
    }

    private static final class Wait<T> extends CompletableFuture<T> {

        private final Callable<T> wait;
        private final Consumer<T> closing;
        private final Thread thread;

        /** Whether the call or another thread has won the right to complete this future. */
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

        /** Interrupts the call, unless it has returned. */
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

        /** Dependent futures are ordinary ones. */
        @Override
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return new CompletableFuture<>();
        }
    }
}
