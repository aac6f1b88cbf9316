package org.jrdma.soft.sisci.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Tests the queue of one connection, which is identified by null here. */
class PerConnectionExecutorTest {

    private static final int LIMIT = 128;

    private final ArrayDeque<Runnable> workers = new ArrayDeque<>();
    private final PerConnectionExecutor queues = new PerConnectionExecutor(workers::add);
    private final ArrayList<Integer> results = new ArrayList<>();

    @Test
    void shouldRunTheRequestsOfAConnectionOneAfterTheOther() {
        queues.add(
                null,
                LIMIT,
                () -> {
                    results.add(1);
                    queues.add(null, LIMIT, () -> results.add(3));
                });
        queues.add(null, LIMIT, () -> results.add(2));

        assertThat(workers).hasSize(1);
        workers.remove().run();

        assertThat(results).containsExactly(1, 2, 3);
        queues.add(null, LIMIT, () -> results.add(4));
        workers.remove().run();
        assertThat(results).endsWith(4);
    }

    @Test
    void shouldContinueAfterARequestThatFails() {
        queues.add(
                null,
                LIMIT,
                () -> {
                    throw new IllegalStateException("thrown by a request, on purpose");
                });
        queues.add(null, LIMIT, () -> results.add(1));

        workers.remove().run();

        assertThat(results).containsExactly(1);
    }

    @Test
    void shouldRejectRequestsButNotTheLastTaskIfTooManyWait() {
        for (var i = 0; i < LIMIT; i++) {
            queues.add(null, LIMIT, () -> results.add(0));
        }

        assertThatExceptionOfType(SciException.class)
                .isThrownBy(() -> queues.add(null, LIMIT, () -> results.add(1)));

        queues.addLast(null, () -> results.add(2));
        workers.remove().run();
        assertThat(results).hasSize(LIMIT + 1).endsWith(2).doesNotContain(1);
    }

    @Test
    void shouldAcceptRequestsAfterNoWorkerWasAvailable() {
        var isAvailable = new ArrayList<Boolean>();
        var scarce =
                new PerConnectionExecutor(task -> {
                    if (isAvailable.isEmpty()) {
                        throw new RejectedExecutionException("thrown on purpose");
                    }
                    workers.add(task);
                });
        assertThatExceptionOfType(RejectedExecutionException.class)
                .isThrownBy(() -> scarce.add(null, LIMIT, () -> results.add(1)));
        isAvailable.add(true);

        scarce.add(null, LIMIT, () -> results.add(2));
        workers.remove().run();

        assertThat(results).containsExactly(2);
    }
}
