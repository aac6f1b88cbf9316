package org.jrdma.stress;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how close() ends waits of other threads, and which threads may call it. */
@Timeout(60)
class CloseDuringWaitTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private Device device;

    @BeforeEach
    void openDevice() throws Exception {
        device = NullProviderDevice.open();
    }

    @AfterEach
    void closeDevice() {
        if (device != null) {
            device.close();
        }
    }

    @Test
    void shouldRejectAWaitForAClosedQueueAndNameTheQueue() throws Exception {
        var queue = waitableQueue();
        var cursor = queue.newCursor(1);

        queue.close();

        assertThatIllegalStateException()
                .isThrownBy(() -> cursor.await(TIMEOUT))
                .withMessage(queue + " is closed");
    }

    @Test
    void shouldEndAWaitWhoseQueueIsClosedAndNameTheQueue() throws Exception {
        for (var round = 0; round < 100; round++) {
            var queue = waitableQueue();
            var started = new CountDownLatch(1);
            var wait =
                    new FutureTask<Void>(() -> {
                        var cursor = queue.newCursor(1);
                        started.countDown();
                        assertThatIllegalStateException()
                                .isThrownBy(() -> cursor.await(TIMEOUT))
                                .withMessage(queue + " is closed");
                        return null;
                    });
            Thread.ofPlatform().daemon().start(wait);
            started.await();
            Thread.sleep(0, round * 10_000); // Varies the time of the close.

            queue.close();

            wait.get(TIMEOUT.toSeconds(), SECONDS);
        }
    }

    @Test
    void shouldLetAStageOfATransferCloseTheDispatcherThatRunsIt() throws Exception {
        var domain = device.newProtectionDomain();
        var memory = domain.newArena(LOCAL_WRITE).region(4096);
        var dispatcher = device.newCompletionDispatcher(64);
        var pair = domain.newQueuePair(reliable(dispatcher).sends(8).receives(8));
        pair.connect(pair.endpoint());
        var closed =
                pair.receive(List.of())
                        .future(Runnable::run)
                        .thenApply(completion -> {
                            dispatcher.close();
                            return completion;
                        });

        pair.modify(QueuePairChange.to(QueuePairState.ERROR)); // Flushes the receive.

        assertThat(closed.get(TIMEOUT.toSeconds(), SECONDS).isSuccess()).isFalse();
        assertThat(dispatcher.isOpen()).isFalse();
        // The thread that ran the stage serves all dispatchers. A completion of another dispatcher
        // shows that this thread has returned from the stage and still runs.
        var next = domain.newQueuePair(reliable(device.newCompletionDispatcher(64)));
        next.connect(next.endpoint());
        assertThat(next.write(memory.slice(0, 64), memory.remote()).await(TIMEOUT).isSuccess())
                .isTrue();
    }

    @Test
    void shouldLetAnInterruptedVirtualThreadCloseAnObjectHeldByAnotherThreadOfItsCarrier()
            throws Exception {
        var child =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Djdk.virtualThreadScheduler.parallelism=1",
                                "-Djdk.virtualThreadScheduler.maxPoolSize=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                InterruptedVirtualThreadCloser.class.getName())
                        .redirectErrorStream(true)
                        .start();
        try {
            assertThat(child.waitFor(TIMEOUT.toSeconds(), SECONDS)).as("the process ends").isTrue();
            assertThat(child.inputReader().readAllAsString()).contains("closed, interrupted: true");
            assertThat(child.exitValue()).isZero();
        } finally {
            child.destroyForcibly();
        }
    }

    private CompletionQueue waitableQueue() throws Exception {
        return device.newCompletionQueue(CompletionQueueOptions.capacity(4).waitable());
    }
}
