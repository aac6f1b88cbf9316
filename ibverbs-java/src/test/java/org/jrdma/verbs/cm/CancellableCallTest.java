package org.jrdma.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a call is interrupted when its future is canceled or completed. */
@Timeout(30)
class CancellableCallTest {

    private final CountDownLatch waiting = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);

    private String blockUntilInterrupted() throws InterruptedException {
        waiting.countDown();
        try {
            new CountDownLatch(1).await();
            return "never";
        } catch (InterruptedException e) {
            interrupted.countDown();
            throw e;
        }
    }

    static List<Consumer<CompletableFuture<String>>> completions() {
        return List.of(
                future -> future.cancel(true),
                future -> future.complete("enough"),
                future -> future.completeExceptionally(new IllegalStateException("enough")),
                future -> future.orTimeout(1, TimeUnit.MILLISECONDS),
                future -> future.completeOnTimeout("enough", 1, TimeUnit.MILLISECONDS));
    }

    /** A dependent future may wait for a resource that the interrupted call releases. */
    @ParameterizedTest
    @MethodSource("completions")
    void shouldInterruptTheCallBeforeDependentFuturesRun(
            Consumer<CompletableFuture<String>> completion) throws Exception {
        var future = CancellableCall.start("test", this::blockUntilInterrupted, _ -> {});
        var wasInterrupted = new CompletableFuture<Boolean>();
        var _ =
                future.whenComplete((_, _) -> {
                    try {
                        wasInterrupted.complete(interrupted.await(10, TimeUnit.SECONDS));
                    } catch (InterruptedException e) {
                        wasInterrupted.completeExceptionally(e);
                    }
                });
        waiting.await();

        completion.accept(future);

        assertThat(wasInterrupted.get()).isTrue();
    }

    @Test
    void shouldInterruptTheCallWhenATaskCompletesTheFuture() throws Exception {
        var future = CancellableCall.start("test", this::blockUntilInterrupted, _ -> {});
        waiting.await();

        assertThat(future.completeAsync(() -> "enough").get()).isEqualTo("enough");

        interrupted.await();
    }

    @Test
    void shouldDisposeOfAResultThatArrivesAfterCancellation() throws Exception {
        var late = new CountDownLatch(1);
        var closed = new AtomicReference<String>();
        var disposed = new CountDownLatch(1);
        var future =
                CancellableCall.start(
                        "test",
                        () -> {
                            waiting.countDown();
                            try {
                                late.await();
                            } catch (InterruptedException e) {
                                // The call ignores the interrupt and returns a result.
                            }
                            return "late";
                        },
                        result -> {
                            closed.set(result);
                            disposed.countDown();
                        });
        waiting.await();

        assertThat(future.cancel(true)).isTrue();

        disposed.await();
        assertThat(closed).hasValue("late");
        assertThat(future).isCancelled();
    }

    @Test
    void shouldReturnTheResultWithoutInterruptingDependentFutures() throws Exception {
        var future = CancellableCall.start("test", () -> "result", _ -> {});
        var dependent = future.thenApply(result -> result + Thread.currentThread().isInterrupted());

        assertThat(dependent.get()).isEqualTo("resultfalse");
        assertThat(future.cancel(true)).isFalse();
        assertThat(dependent.cancel(true)).isFalse();
    }
}
