package org.jrdma.verbs.cm;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Runs a blocking call on a virtual thread and returns its result as a cancellable future. */
final class CancellableCall {

    private CancellableCall() {}

    /**
     * Starts a blocking call on a virtual thread. Canceling or completing the future interrupts the
     * call before dependent futures run.
     *
     * @param disposer closes the result of the call if the call returns after the future was
     *     canceled or completed
     */
    static <T> CompletableFuture<T> start(String name, Callable<T> call, Consumer<T> disposer) {
        var future = new CallFuture<>(name, call, disposer);
        // Interrupts the call if the future is completed by a method that is not overridden below,
        // such as completeAsync.
        var _ = future.whenComplete((_, _) -> future.interruptCall());
        future.thread.start();
        return future;
    }

    private static final class CallFuture<T> extends CompletableFuture<T> {

        private final Callable<T> call;
        private final Consumer<T> disposer;
        private final Thread thread;

        /**
         * True if it is decided which thread completes this future. Only one thread can set the
         * value: the thread of the call, or a thread that cancels or completes the future.
         */
        private final AtomicBoolean decided = new AtomicBoolean();

        CallFuture(String name, Callable<T> call, Consumer<T> disposer) {
            this.call = call;
            this.disposer = disposer;
            this.thread = Thread.ofVirtual().name(name).unstarted(this::run);
        }

        private void run() {
            if (decided.get()) {
                return;
            }
            try {
                var result = call.call();
                if (!decided.compareAndSet(false, true) || !super.complete(result)) {
                    disposer.accept(result);
                }
            } catch (Throwable e) {
                if (decided.compareAndSet(false, true)) {
                    super.completeExceptionally(e);
                }
            }
        }

        /** Interrupts the thread of the call, unless the call has already returned. */
        private void interruptCall() {
            if (decided.compareAndSet(false, true)) {
                thread.interrupt();
            }
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            interruptCall();
            return super.cancel(mayInterruptIfRunning);
        }

        @Override
        public boolean complete(T value) {
            interruptCall();
            return super.complete(value);
        }

        @Override
        public boolean completeExceptionally(Throwable e) {
            interruptCall();
            return super.completeExceptionally(e);
        }

        // Dependent futures have the class CompletableFuture, so that completing one of them does
        // not interrupt the call.
        @Override
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return new CompletableFuture<>();
        }
    }
}
