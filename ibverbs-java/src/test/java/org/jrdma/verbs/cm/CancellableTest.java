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

/** Waits that end when nobody wants their results any more. */
@Timeout(30)
class CancellableTest {

    private final CountDownLatch waiting = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);

    private String waitForEver() throws InterruptedException {
        waiting.countDown();
        try {
            new CountDownLatch(1).await();
            return "never";
        } catch (InterruptedException e) {
            interrupted.countDown();
            throw e;
        }
    }

    static List<Consumer<CompletableFuture<String>>> ends() {
        return List.of(
                future -> future.cancel(true),
                future -> future.complete("enough"),
                future -> future.completeExceptionally(new IllegalStateException("enough")),
                future -> future.orTimeout(1, TimeUnit.MILLISECONDS),
                future -> future.completeOnTimeout("enough", 1, TimeUnit.MILLISECONDS));
    }

    /** It may wait for what the end of the wait is to set free. */
    @ParameterizedTest
    @MethodSource("ends")
    void shouldEndTheWaitBeforeItTellsWhoDependsOnIt(Consumer<CompletableFuture<String>> end)
            throws Exception {
        var future = Cancellable.start("test", this::waitForEver, _ -> {});
        var told = new CompletableFuture<Boolean>();
        var _ =
                future.whenComplete((_, _) -> {
                    try {
                        told.complete(interrupted.await(10, TimeUnit.SECONDS));
                    } catch (InterruptedException e) {
                        told.completeExceptionally(e);
                    }
                });
        waiting.await();

        end.accept(future);

        assertThat(told.get()).isTrue();
    }

    @Test
    void shouldEndTheWaitOfWhatIsCompletedByATask() throws Exception {
        var future = Cancellable.start("test", this::waitForEver, _ -> {});
        waiting.await();

        assertThat(future.completeAsync(() -> "enough").get()).isEqualTo("enough");

        interrupted.await();
    }

    @Test
    void shouldCloseWhatCameTooLate() throws Exception {
        var late = new CountDownLatch(1);
        var closed = new AtomicReference<String>();
        var done = new CountDownLatch(1);
        var future =
                Cancellable.start(
                        "test",
                        () -> {
                            waiting.countDown();
                            try {
                                late.await();
                            } catch (InterruptedException e) {
                                // it was here already
                            }
                            return "late";
                        },
                        result -> {
                            closed.set(result);
                            done.countDown();
                        });
        waiting.await();

        assertThat(future.cancel(true)).isTrue();

        done.await();
        assertThat(closed).hasValue("late");
        assertThat(future).isCancelled();
    }

    @Test
    void shouldGiveWhatComesAndNotInterruptThoseWhoDependOnIt() throws Exception {
        var future = Cancellable.start("test", () -> "result", _ -> {});
        var dependent = future.thenApply(result -> result + Thread.currentThread().isInterrupted());

        assertThat(dependent.get()).isEqualTo("resultfalse");
        assertThat(future.cancel(true)).isFalse();
        assertThat(dependent.cancel(true)).isFalse();
    }
}
